"""Estimators from Keras models, and Keras models from checkpoints: `estimator_train.keras`."""

from estimator_train.keras.continue_training import estimator_from_fit
from estimator_train.keras.from_build_fn import model_fn
from estimator_train.keras.load_trained import load_trained, make_or_restore, propose_name_map
from estimator_train.keras.model_to_estimator import model_to_estimator

__all__ = [
    "estimator_from_fit",
    "load_trained",
    "make_or_restore",
    "model_fn",
    "model_to_estimator",
    "propose_name_map",
]
