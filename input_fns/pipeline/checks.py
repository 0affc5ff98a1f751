"""Checks of arguments for all functions of the package."""

import importlib
import importlib.util
import operator
import os
from collections.abc import Collection
from typing import Any


def integer(name: str, value: Any, minimum: int) -> int:
    """Returns `value` as an int, or raises an error that names the argument.

    Args:
      name: Name of the argument, for the error.
      value: A Python or numpy integer.
      minimum: The smallest allowed value.

    Returns:
      The value as a Python int.

    Raises:
      TypeError: `value` is not an integer, or is a bool.
      ValueError: `value` is smaller than `minimum`.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} must be an integer, but got {value!r} ({kind}).") from None
    if number < minimum:
        raise ValueError(f"{name} must be {minimum} or more, but got {number}.")
    return number


def optional_integer(name: str, value: Any, minimum: int) -> int | None:
    """Checks an argument as `integer` does, but also accepts None."""
    return None if value is None else integer(name, value, minimum)


def one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """Raises a ValueError that lists the allowed values if `value` is not one of them."""
    if value not in allowed:
        choices = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name} must be one of {choices}, but got {value!r}.")


def path(name: str, value: Any) -> str:
    """Returns a path as a str, or raises a TypeError that names the argument."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name} must be a path, but got {value!r}.") from None


def tensorflow_path(name: str, value: Any) -> str:
    """Returns a path that TensorFlow opens, whose scheme is registered if it is remote.

    Raises:
      ImportError: The driver of the scheme is not installed.
      TypeError: It is not a path.
      ValueError: No file system is known for the scheme, or the path has no bucket.
    """
    text = path(name, value)
    if "://" in text and importlib.util.find_spec("estimator_train"):
        # By its name: this package also works without estimator_train, with TensorFlow's schemes.
        importlib.import_module("estimator_train.remote").prepare_path(text, name)
    return text


def folder_of(name: str, file: str | os.PathLike[str]) -> None:
    """Raises a FileNotFoundError if the folder of an output file does not exist."""
    folder = os.path.dirname(os.path.abspath(file))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{name}={os.fspath(file)!r}: there is no folder {folder}.")


def input_context(value: Any) -> None:
    """Raises a TypeError if `value` is neither None nor a `tf.distribute.InputContext`."""
    names = ("input_pipeline_id", "num_input_pipelines")
    if value is not None and not all(hasattr(value, name) for name in names):
        raise TypeError(
            f"input_context must be a tf.distribute.InputContext, but got {value!r}; an input_fn "
            "receives one if it has an argument with this name."
        )
