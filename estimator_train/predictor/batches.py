"""Converts the values of a batch to arrays for the inputs of a graph."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

ArrayLike: TypeAlias = npt.ArrayLike
Batch: TypeAlias = ArrayLike | Mapping[str, ArrayLike]


def convert_to_input_array(name: str, value: ArrayLike, tensor: tf.Tensor) -> np.ndarray:
    """Converts a value to an array with the dtype of an input.

    Args:
      name: Name of the input, for errors.
      value: An array or nested list.
      tensor: The input.

    Raises:
      ValueError: The shape or the type of the value does not match the input.
    """
    array = _cast(name, value, tensor.dtype)
    if not tensor.shape.is_compatible_with(array.shape):
        is_single_example = tensor.shape.rank == array.ndim + 1
        hint = " Put a single example into a list, to make a batch." if is_single_example else ""
        raise ValueError(
            f"'{name}' has the shape {array.shape}, but the model takes {tensor.shape}.{hint}"
        )
    return array


def make_placeholder(value: ArrayLike) -> tf.Tensor:
    """Creates a placeholder in the default graph for values like this one, of any batch size.

    Args:
      value: An array or nested list; a scalar has no batch dimension.
    """
    example = value if isinstance(value, (np.ndarray, np.generic)) else _to_tensorflow_array(value)
    shape = [None, *example.shape[1:]] if example.ndim else []
    dtype = tf.string if example.dtype.kind in "SUO" else tf.as_dtype(example.dtype)
    return tf.compat.v1.placeholder(dtype, shape)


def _to_tensorflow_array(value: ArrayLike) -> np.ndarray:
    """Converts Python numbers to float32 and int32, as TensorFlow does."""
    array = np.asarray(value)
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    is_wide = array.dtype in (np.float64, np.int64) and not hasattr(value, "dtype")
    return array.astype(narrow) if narrow and is_wide else array


def _cast(name: str, value: ArrayLike, dtype: tf.DType) -> np.ndarray:
    expected = dtype.as_numpy_dtype
    array = np.asarray(value)
    if array.dtype == expected:
        return array
    if dtype == tf.string:
        if array.dtype.kind not in "SU":
            raise ValueError(f"'{name}' is {array.dtype}, but the model takes strings.")
        return array.astype(object)
    if not np.can_cast(array.dtype, expected, casting="same_kind"):
        raise ValueError(
            f"'{name}' is {array.dtype}, but the model takes {np.dtype(expected)}; convert it."
        )
    return array.astype(expected)
