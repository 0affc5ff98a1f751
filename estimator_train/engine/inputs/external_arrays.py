"""Large arrays of an input_fn, kept outside of the graph.

A constant is copied into the graph, and from there into the `.meta` file of every checkpoint,
`graph.pbtxt` and the event file; above 2 GB that fails. So an array of 64 KB or more becomes an
operation that returns the array when it runs (`make_external_constant`): for a dataset, when its
iterator starts. The operation has no state, so that iterators can be saved and graphs imported.
"""

import dataclasses
import weakref
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.tf_internals import constants

MIN_BYTES = 64 * 2**10
EXTERNAL_ARRAY = "PyFuncStateless"
_ALIGNMENT = 64  # TensorFlow copies arrays at other addresses.
_NUMERIC_KINDS = "biufc"


@dataclasses.dataclass
class _Array:
    """Array that an operation returns.

    Attributes:
      values: The array; None after `release_arrays`.
    """

    values: np.ndarray | None

    def __call__(self) -> np.ndarray:
        if self.values is None:
            raise RuntimeError("The arrays of this input were released when its iterator started.")
        return self.values


# State of the process: arrays by graph, then by the name of the operation.
_arrays: weakref.WeakKeyDictionary[tf.Graph, dict[str, _Array]] = weakref.WeakKeyDictionary()


def find_external_array(graph: tf.Graph, name: str) -> np.ndarray | None:
    """Returns the array of an operation of type EXTERNAL_ARRAY; None if it is another one."""
    found = _arrays.get(graph, {}).get(name)
    return None if found is None else found.values


def has_external_arrays(graph: tf.Graph) -> bool:
    """Returns whether a graph has external arrays that were not released."""
    return any(array.values is not None for array in _arrays.get(graph, {}).values())


def release_arrays(graph: tf.Graph) -> None:
    """Releases the external arrays of a graph whose iterators will not start again."""
    for array in _arrays.get(graph, {}).values():
        array.values = None


def make_external_constant(
    value: Any, dtype: Any, shape: Any, name: str | None
) -> tf.Tensor | None:
    """Returns a tensor of an external array; None for a value that becomes a constant.

    Args:
      value: An array, or another value of a constant.
      dtype: The constant's dtype, or None for the array's.
      shape: The constant's shape, or None for the array's.
      name: The constant's name, or None.
    """
    if not hasattr(value, "__array__"):
        return None
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    number_type = _number_type(array, dtype)
    if number_type is None or (shape is not None and tuple(shape) != array.shape):
        return None
    external = _Array(_take_snapshot(array, number_type))
    tensor = constants.find_tensor(external, number_type, array.shape, name or "Const")
    _arrays.setdefault(tensor.graph, {})[tensor.op.name] = external
    return tensor


def _number_type(array: np.ndarray, dtype: Any) -> np.dtype | None:
    """Returns the dtype of a numeric array as a constant; None if NumPy does not define it."""
    wanted = array.dtype if dtype is None else tf.as_dtype(dtype)
    if isinstance(wanted, tf.DType):
        wanted = np.dtype(wanted.as_numpy_dtype)
    dtypes = (array.dtype, wanted)
    is_numeric = all(one.kind in _NUMERIC_KINDS and one.isnative for one in dtypes)
    # These kinds exclude bfloat16 and quantized types; TensorFlow does not know float128.
    return wanted if is_numeric and wanted.itemsize <= 16 and wanted.char not in "gG" else None


def _take_snapshot(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns a copy of an array, or the array itself if it and its base arrays are read-only."""
    if array.dtype == dtype and array.flags.c_contiguous and _is_immutable(array):
        return array
    size = array.size * dtype.itemsize
    buffer = np.empty(size + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    copy = buffer[start : start + size].view(dtype).reshape(array.shape)
    np.copyto(copy, array, casting="unsafe")
    return copy


def _is_immutable(array: Any) -> bool:
    """Returns whether an array and its base arrays are read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None or isinstance(array, bytes)
