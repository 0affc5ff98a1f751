"""Rows of numpy arrays by their indices, with no array inside the graph.

`Dataset.from_tensor_slices` writes its arrays into the graph as constants when it is called
in graph mode, as an Estimator does: beyond 2 GB that fails, and below it every save of the
graph carries the data. Here the arrays stay outside. One call of a Python function, when an
iterator starts, hands them over, and from then on tf.data gathers the rows by itself, a whole
batch at a time. Eagerly there is no graph to keep them out of, and they become tensors at
once; a Python function would be kept, arrays and all, until the program ends.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def as_arrays(name: str, structure: Any) -> Any:
    """Returns nested dicts and tuples with every leaf made an array TensorFlow can take.

    Args:
      name: What the structure is called in errors.
      structure: A dict or tuple of such structures, or anything `np.asarray` takes.

    Returns:
      The same structure; its leaves are arrays in native byte order.

    Raises:
      ValueError: A leaf is not a regular array, or has no rows.
      TypeError: A leaf is of a dtype that TensorFlow does not have.
    """
    if isinstance(structure, dict):
        return {key: as_arrays(f"{name}[{key!r}]", leaf) for key, leaf in structure.items()}
    if isinstance(structure, tuple):
        leaves = [as_arrays(f"{name}[{place}]", leaf) for place, leaf in enumerate(structure)]
        return structure._make(leaves) if hasattr(structure, "_make") else tuple(leaves)
    try:
        array = _as_array(structure)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be a regular array of numbers, bools or strings, but got "
            f"{type(structure).__name__}: {error}"
        ) from error
    if array.ndim == 0 or len(array) == 0:
        raise ValueError(f"{name} must have at least one row, but its shape is {array.shape}.")
    return array


def _as_array(values: Any) -> np.ndarray:
    array = np.asarray(values)
    tf.as_dtype(array.dtype)
    if array.dtype.kind == "U":
        return array.astype(object)  # tf.numpy_function encodes objects only as UTF-8
    if array.dtype.kind == "O":
        for item in array.flat:
            if not isinstance(item, str | bytes):
                raise TypeError(f"it holds {item!r} ({type(item).__name__}) among its objects.")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def row_count(names: Sequence[str], structures: Sequence[Any]) -> int:
    """Returns how many rows the arrays have, or raises if they do not all have as many.

    Args:
      names: What each structure is called in errors.
      structures: Results of `as_arrays`.

    Returns:
      The number of rows.

    Raises:
      ValueError: The arrays differ in it; it lists all of them.
    """
    counts = {
        leaf: len(array)
        for name, structure in zip(names, structures, strict=True)
        for leaf, array in _leaves(name, structure)
    }
    if not counts:
        raise ValueError(f"{names[0]} must hold at least one array, but it is empty.")
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"All arrays must have the same number of rows, but {listed}.")
    return next(iter(counts.values()))


def _leaves(name: str, structure: Any) -> list[tuple[str, Any]]:
    if not isinstance(structure, (dict, tuple)):
        return [(name, structure)]
    parts = structure.items() if isinstance(structure, dict) else enumerate(structure)
    return [leaf for key, part in parts for leaf in _leaves(f"{name}[{key!r}]", part)]


def gather_rows(arrays: Any, indices: tf.data.Dataset, cardinality: int) -> tf.data.Dataset:
    """Returns the rows of arrays at the indices that a dataset gives.

    Args:
      arrays: Result of `as_arrays`.
      indices: Dataset of tf.int64 indices, scalars for single rows or vectors for batches.
      cardinality: Number of elements of `indices`, or `tf.data.INFINITE_CARDINALITY`.

    Returns:
      A dataset with as many elements as `indices`, in the structure of `arrays`.
    """
    flat = tf.nest.flatten(arrays)

    def gather_from(tensors: list[tf.Tensor]) -> tf.data.Dataset:
        def gather(index: tf.Tensor) -> Any:
            rows = [tf.gather(tensor, index) for tensor in tensors]
            return tf.nest.pack_sequence_as(arrays, rows)

        return indices.map(gather)

    if tf.executing_eagerly():
        with tf.device("CPU:0"):
            rows = gather_from([tf.constant(array) for array in flat])
    else:
        rows = _handed_over(flat, gather_from)
    return rows.apply(tf.data.experimental.assert_cardinality(cardinality))


def _handed_over(
    arrays: list[np.ndarray], use: Callable[[list[tf.Tensor]], tf.data.Dataset]
) -> tf.data.Dataset:
    """Returns `use` of the arrays as tensors, which exist from the iterator's start on."""

    def hand_over(_: np.ndarray) -> list[np.ndarray]:
        return arrays

    def start(zero: tf.Tensor) -> tf.data.Dataset:
        # Not stateful, so that iterators can be saved. The argument, whose value no optimizer
        # knows, keeps the result from being computed ahead and put into the graph after all.
        dtypes = [tf.as_dtype(array.dtype) for array in arrays]
        handed = tf.numpy_function(hand_over, [zero], dtypes, stateful=False)
        pairs = zip(handed, arrays, strict=True)
        return use([tf.ensure_shape(tensor, array.shape) for tensor, array in pairs])

    return tf.data.Dataset.from_tensors(0).flat_map(start)
