"""Datasets of rows of numpy arrays, without the arrays in the graph.

In graph mode, which an Estimator uses, `Dataset.from_tensor_slices` writes its arrays into the
graph as constants. This fails above 2 GB, and every saved graph contains the data. Here the arrays
stay outside the graph: a Python function passes copies of them (read-only arrays themselves) to
tf.data when an iterator starts, and then tf.data gathers the rows of each batch. In eager mode
there is no such graph, and the arrays become tensors immediately: TensorFlow would keep a Python
function, with its arrays, until the program ends.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_ALIGNMENT = 64  # TensorFlow shares the memory of arrays at such addresses, and copies others.


def row_count(names: Sequence[str], structures: Sequence[Any]) -> int:
    """Returns the number of rows of the arrays.

    Args:
      names: Name of each structure in errors.
      structures: Results of `as_arrays`.

    Returns:
      The number of rows.

    Raises:
      ValueError: The arrays have different numbers of rows; the error lists all of them.
    """
    counts = {
        leaf: len(array)
        for name, structure in zip(names, structures, strict=True)
        for leaf, array in _list_leaves(name, structure)
    }
    if not counts:
        raise ValueError(f"{names[0]} must contain at least one array, but it is empty.")
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"All arrays must have the same number of rows, but {listed}.")
    return next(iter(counts.values()))


def _list_leaves(name: str, structure: Any) -> list[tuple[str, Any]]:
    if not isinstance(structure, (dict, tuple)):
        return [(name, structure)]
    parts = structure.items() if isinstance(structure, dict) else enumerate(structure)
    return [leaf for key, part in parts for leaf in _list_leaves(f"{name}[{key!r}]", part)]


def gather_rows(arrays: Any, indices: tf.data.Dataset, cardinality: int) -> tf.data.Dataset:
    """Returns a dataset of the rows at the indices in another dataset.

    Args:
      arrays: Result of `as_arrays`.
      indices: Dataset of tf.int64 indices, scalars for single rows or vectors for batches.
      cardinality: Number of elements of `indices`, or `tf.data.INFINITE_CARDINALITY`.

    Returns:
      A dataset with one element for each element of `indices`, in the structure of `arrays`.
    """
    flat = tf.nest.flatten(arrays)

    def gather_all(tensors: list[tf.Tensor]) -> tf.data.Dataset:
        def gather(index: tf.Tensor) -> Any:
            rows = [tf.gather(tensor, index) for tensor in tensors]
            return tf.nest.pack_sequence_as(arrays, rows)

        return indices.map(gather)

    if tf.executing_eagerly():
        with tf.device("CPU:0"):
            rows = gather_all([tf.constant(array) for array in flat])
    else:
        rows = _map_external_arrays(flat, gather_all)
    return rows.apply(tf.data.experimental.assert_cardinality(cardinality))


def _map_external_arrays(
    arrays: list[np.ndarray], make_dataset: Callable[[list[tf.Tensor]], tf.data.Dataset]
) -> tf.data.Dataset:
    """Returns the dataset of `make_dataset`, whose tensors are created when an iterator starts."""

    def return_arrays(_: np.ndarray) -> list[np.ndarray]:
        return [_take_snapshot(array) for array in arrays]

    def start(zero: tf.Tensor) -> tf.data.Dataset:
        # A stateless function, because tf.data can save such iterators. Its argument is unknown
        # when the graph is optimized: otherwise the result would become a constant of the graph.
        dtypes = [tf.as_dtype(array.dtype) for array in arrays]
        tensors = tf.numpy_function(return_arrays, [zero], dtypes, stateful=False)
        pairs = zip(tensors, arrays, strict=True)
        return make_dataset([tf.ensure_shape(tensor, array.shape) for tensor, array in pairs])

    return tf.data.Dataset.from_tensors(0).flat_map(start)


def _take_snapshot(array: np.ndarray) -> np.ndarray:
    """Returns a copy that TensorFlow shares; the array itself if it is read-only or of objects.

    `estimator_train.engine.inputs` has the same for the arrays of other datasets:
    neither package imports the other.
    """
    if array.dtype.hasobject or _is_immutable(array):
        return array
    buffer = np.empty(array.nbytes + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    np.copyto(copy, array)
    return copy


def _is_immutable(array: Any) -> bool:
    """Returns whether an array and the memory that it views are read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    if array is None:
        return True
    try:  # A file mapped for reading, bytes, or a buffer of Arrow.
        view = memoryview(array)
        return view.readonly and memoryview(view.obj).readonly
    except TypeError:
        return False
