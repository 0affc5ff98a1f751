"""Which models are tf_keras models."""

from typing import Any

import tf_keras


def check_kind(model: Any, what: str) -> None:
    """Checks that something is a tf_keras Model.

    Args:
      model: Any object.
      what: What it is called in the error, such as the name of the argument.

    Raises:
      TypeError: It is not; a Keras 3 model is not one either.
    """
    if isinstance(model, tf_keras.Model):
        return
    kinds = {cls.__module__.partition(".")[0] for cls in type(model).__mro__}
    if "keras" in kinds:
        raise TypeError(
            f"{what} {model!r} is a Keras 3 model, and Estimators train tf_keras models. "
            "Build it with tf_keras (import tf_keras in place of keras), or set the environment "
            "variable TF_USE_LEGACY_KERAS=1 before TensorFlow is imported, which makes tf.keras "
            "be tf_keras."
        )
    raise TypeError(
        f"{what} must be a tf_keras Model, got {model!r} of type {type(model).__name__}."
    )
