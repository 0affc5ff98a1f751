"""Large arrays of an input_fn stay out of the graph.

An array that becomes a tensor in a graph is written into it, and from there into every checkpoint's
`.meta`, `graph.pbtxt` and the event file; beyond 2 GB that fails. An array of 64
KB or more becomes an operation that hands it over when it runs (`handed_over`), which for a dataset
is when its iterator starts. It has no state: iterators can be saved and graphs can be imported.
"""

import dataclasses
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine import tf_internals

LEAST_BYTES = 64 * 2**10
_ALIGNMENT = 64  # At other addresses TensorFlow makes a copy of its own.
_NUMBERS = "biufc"


@dataclasses.dataclass
class _Array:
    """What an operation hands over.

    Attributes:
      values: The array; None once no iterator starts on it any more.
    """

    values: np.ndarray | None

    def __call__(self) -> np.ndarray:
        if self.values is None:
            raise RuntimeError("The arrays of this input were released when its iterator started.")
        return self.values


# By graph, then by the name of the operation.
_arrays: weakref.WeakKeyDictionary[tf.Graph, dict[str, _Array]] = weakref.WeakKeyDictionary()


def arrays_beside(graph: tf.Graph) -> Mapping[str, np.ndarray]:
    """The arrays that were kept out of a graph, by the names of the operations for them."""
    found = _arrays.get(graph, {})
    return {name: array.values for name, array in found.items() if array.values is not None}


def release_arrays(graph: tf.Graph) -> None:
    """Forgets the arrays of a graph whose iterators have started and do not start again."""
    for array in _arrays.get(graph, {}).values():
        array.values = None


def handed_over(value: Any, dtype: Any, shape: Any, name: str | None) -> tf.Tensor | None:
    """A tensor of an array that is not in the graph; None for what becomes a constant as ever.

    Args:
      value: An array, or anything else that a constant can be made of.
      dtype: The constant's dtype, or None for the array's.
      shape: The constant's shape, or None for the array's.
      name: The constant's name, or None.
    """
    if not hasattr(value, "__array__"):
        return None
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    as_number = _number_type(array, dtype)
    if as_number is None or (shape is not None and tuple(shape) != array.shape):
        return None
    kept = _Array(_as_it_is_now(array, as_number))
    tensor = tf_internals.tensor_of(kept, as_number, array.shape, name or "Const")
    _arrays.setdefault(tensor.graph, {})[tensor.op.name] = kept
    return tensor


def _number_type(array: np.ndarray, dtype: Any) -> np.dtype | None:
    """The dtype of an array of numbers as a constant; None if it is none of NumPy's own."""
    wanted = array.dtype if dtype is None else tf.as_dtype(dtype)
    if isinstance(wanted, tf.DType):
        wanted = np.dtype(wanted.as_numpy_dtype)
    both = (array.dtype, wanted)
    plain = all(one.kind in _NUMBERS and one.isnative for one in both)
    # TensorFlow's narrow and quantized types are not of these kinds, and float128 is unknown to it.
    return wanted if plain and wanted.itemsize <= 16 and wanted.char not in "gG" else None


def _as_it_is_now(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy that no change of the array reaches; the array itself where nothing can change it."""
    if array.dtype == dtype and array.flags.c_contiguous and _is_immutable(array):
        return array
    size = array.size * dtype.itemsize
    room = np.empty(size + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    copy = room[start : start + size].view(dtype).reshape(array.shape)
    np.copyto(copy, array, casting="unsafe")
    return copy


def _is_immutable(array: Any) -> bool:
    """Whether neither an array nor what it is a view of can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)
