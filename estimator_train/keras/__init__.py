"""Estimators from Keras models, and Keras models from checkpoints: `estimator_train.keras`.

`family.py` finds the package for a model: `tf_keras` or `keras3`. Each has the same functions, and
both are used through `model_to_estimator.py` and `model_fn.py`. `callback_runner.py` and
`observation.py` run callbacks.
"""

from estimator_train.keras.model_fn import model_fn
from estimator_train.keras.model_to_estimator import (
    estimator_from_fit,
    load_trained,
    make_or_restore,
    model_to_estimator,
    propose_name_map,
)

__all__ = [
    "estimator_from_fit",
    "load_trained",
    "make_or_restore",
    "model_fn",
    "model_to_estimator",
    "propose_name_map",
]
