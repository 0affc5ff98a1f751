"""Checks of the arguments of train, evaluate and predict."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def check_positive(**arguments: int | None) -> None:
    """Checks that each argument, if given, is positive.

    Raises:
      ValueError: One is not.
    """
    for name, value in arguments.items():
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def checked_hooks(hooks: Sequence[Any] | None) -> list[Any]:
    """The hooks as a new list.

    Raises:
      TypeError: One is not a SessionRunHook.
    """
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, tf.compat.v1.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return found


def checked_listeners(listeners: Sequence[Any] | None) -> list[Any]:
    """The listeners as a new list.

    Raises:
      TypeError: One is not a CheckpointSaverListener.
    """
    found = list(listeners or ())
    for listener in found:
        if not isinstance(listener, tf.compat.v1.train.CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return found
