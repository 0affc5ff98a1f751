"""The part of `tensorflow_estimator.python.estimator.keras_lib` that tf_keras imports."""

from typing import Any

from estimator_train.keras.model_to_estimator import (
    model_to_estimator as _v2,
    v1_model_to_estimator as _v1,
)


def model_to_estimator(use_v2_estimator: bool = False, **arguments: Any) -> Any:
    """Makes an Estimator of a Keras model, for `tf_keras.estimator.model_to_estimator`.

    Args:
      use_v2_estimator: Return a v2 Estimator; otherwise a v1 Estimator.
      **arguments: The arguments of `estimator_train.keras.model_to_estimator`.
    """
    return (_v2 if use_v2_estimator else _v1)(**arguments)
