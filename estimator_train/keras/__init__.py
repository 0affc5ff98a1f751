"""Keras models as Estimators. The public names of `estimator_train.keras`."""

from estimator_train.keras.adapter import model_fn
from estimator_train.keras.to_estimator import model_to_estimator

__all__ = ["model_fn", "model_to_estimator"]
