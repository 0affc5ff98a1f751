"""Converts the values of a batch to what a graph's inputs take."""

from typing import Any

import numpy as np
import tensorflow as tf


def fed_value(name: str, value: Any, to: tf.Tensor) -> np.ndarray:
    """A value as an array of an input's dtype.

    Args:
      name: The input's name, for errors.
      value: An array or nested list.
      to: The input.

    Raises:
      ValueError: The value's shape or kind does not fit.
    """
    array = _as_dtype(name, value, to.dtype)
    if not to.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"'{name}' has the shape {array.shape}, but the model takes {to.shape}."
            + (
                " A single example is a batch of one: put it into a list."
                if to.shape.rank == array.ndim + 1
                else ""
            )
        )
    return array


def placeholder_like(value: Any) -> tf.Tensor:
    """A placeholder in the default graph for values like this one, of any batch size.

    Args:
      value: An array or nested list; a scalar has no batch dimension.
    """
    # Lists of Python numbers are what they are to TensorFlow: float32 and int32.
    example = value if isinstance(value, (np.ndarray, np.generic)) else _as_tensorflow(value)
    shape = [None, *example.shape[1:]] if example.ndim else []
    dtype = tf.string if example.dtype.kind in "SUO" else tf.as_dtype(example.dtype)
    return tf.compat.v1.placeholder(dtype, shape)


def _as_tensorflow(value: Any) -> np.ndarray:
    array = np.asarray(value)
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    is_wide = array.dtype in (np.float64, np.int64) and not hasattr(value, "dtype")
    return array.astype(narrow) if narrow and is_wide else array


def _as_dtype(name: str, value: Any, dtype: tf.DType) -> np.ndarray:
    wanted = dtype.as_numpy_dtype
    array = np.asarray(value)
    if array.dtype == wanted:
        return array
    if dtype == tf.string:
        if array.dtype.kind not in "SU":
            raise ValueError(f"'{name}' is {array.dtype}, but the model takes strings.")
        return array.astype(object)
    if not np.can_cast(array.dtype, wanted, casting="same_kind"):
        raise ValueError(
            f"'{name}' is {array.dtype}, but the model takes {np.dtype(wanted)}; convert it."
        )
    return array.astype(wanted)
