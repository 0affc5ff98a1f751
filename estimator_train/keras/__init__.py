"""Keras models as Estimators. The public names of `estimator_train.keras`."""

from estimator_train.keras.to_estimator import model_to_estimator

__all__ = ["model_to_estimator"]
