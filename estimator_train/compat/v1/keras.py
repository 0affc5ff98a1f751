"""Keras models as v1 Estimators: the names of `tf.compat.v1.keras.estimator`."""

from estimator_train.keras.model_to_estimator import v1_model_to_estimator as model_to_estimator

__all__ = ["model_to_estimator"]
