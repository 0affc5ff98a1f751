"""Keras models as Estimators, and back. The public names of `estimator_train.keras`."""

from estimator_train.keras.adapter import model_fn
from estimator_train.keras.continuation import estimator_from_fit
from estimator_train.keras.to_estimator import model_to_estimator
from estimator_train.keras.way_back import load_trained, make_or_restore, propose_name_map

__all__ = [
    "estimator_from_fit",
    "load_trained",
    "make_or_restore",
    "model_fn",
    "model_to_estimator",
    "propose_name_map",
]
