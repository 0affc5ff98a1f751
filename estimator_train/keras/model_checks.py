"""Checks of the models that users give."""

from collections.abc import Sequence

import tf_keras

from estimator_train.keras.callbacks.callback_checks import find_keras


def list_overridden_steps(model: tf_keras.Model, names: Sequence[str]) -> list[str]:
    """Returns those of the named methods that a user's class overrides.

    Args:
      model: A tf_keras Model.
      names: Names of methods of tf_keras Models.
    """
    wide_and_deep = tf_keras.experimental.WideDeepModel
    base = wide_and_deep if isinstance(model, wide_and_deep) else tf_keras.Model
    return [name for name in names if getattr(type(model), name) is not getattr(base, name)]


class NotAModelError(TypeError, AttributeError):
    """Error for an object that is not a Keras model."""


def is_keras_3(model: object) -> bool:
    """Returns whether a class of Keras 3 is among the classes of an object."""
    return find_keras(model) == "keras"


def check_kind(model: object, argument: str) -> None:
    """Checks that an object is a tf_keras Model.

    Args:
      model: The object.
      argument: The name of the object in the error, such as the name of the argument.

    Raises:
      NotAModelError: The object is not a tf_keras Model.
    """
    if isinstance(model, tf_keras.Model):
        return
    raise NotAModelError(
        f"{argument} must be a tf_keras Model, got {model!r} of type {type(model).__name__}."
    )
