"""Constants of a graph: their sizes, and large ones that a function makes, maybe later."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

# Why internal: an array has become a message of the graph before public code sees it (see
# `replace_constants`).
from tensorflow.python.framework import ops as framework_ops

# Why internal: its public forms place it on a device of one process or say that they are deprecated
# (see `find_tensor`).
from tensorflow.python.ops.script_ops import py_func_common

_Entry = TypeVar("_Entry")
# The operations of a graph that were counted, and the bytes of the constants among them.
_counted: weakref.WeakKeyDictionary[tf.Graph, tuple[int, int]] = weakref.WeakKeyDictionary()
_constants = framework_ops._create_graph_constant
_constants_lock = threading.Lock()
# By graph: other threads, and the graphs of functions, are not affected.
_constant_makers: weakref.WeakKeyDictionary[tf.Graph, tuple[Callable[..., Any], int]] = (
    weakref.WeakKeyDictionary()
)


def count_bytes(value: Any) -> int:
    """Returns the size of a tensor or variable in bytes; 0 for other objects and unknown shapes."""
    shape = getattr(value, "shape", None)
    return 0 if shape is None else int(shape.num_elements() or 0) * int(value.dtype.size)


def count_constant_bytes(graph: tf.Graph) -> int:
    """Returns the size of a graph's constants in bytes.

    Operations stay in a graph as they are, so that each call counts only those that are new.
    """
    number, size = _counted.get(graph, (0, 0))
    operations = graph.get_operations()
    new = (one.outputs[0] for one in operations[number:] if one.type == "Const")
    size += sum(map(count_bytes, new))
    _counted[graph] = len(operations), size
    return size


def divide(entries: Iterable[_Entry], tensors: Iterable[Any], min_bytes: int) -> list[list[_Entry]]:
    """Returns entries in parts of at least `min_bytes`, in their order; the last may be smaller.

    Args:
      entries: The entries.
      tensors: The tensor or variable of each entry; another object has no size.
      min_bytes: Minimum size of a part.
    """
    parts: list[list[_Entry]] = [[]]
    size = 0
    for entry, tensor in zip(entries, tensors, strict=True):
        if size >= min_bytes:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += count_bytes(tensor)
    return parts


@contextlib.contextmanager
def replace_constants(make: Callable[..., tf.Tensor | None], min_bytes: int) -> Iterator[None]:
    """Makes the default graph's large constants through a function.

    Why internal: `tf.constant` and all that makes constants of arrays, as
    `Dataset.from_tensor_slices`, end in this one function, and it copies the array several times.

    Args:
      make: Takes (value, dtype, shape, name) of a constant; returns None for a normal constant.
      min_bytes: Minimum size (`nbytes`) of a large constant.
    """
    graph = tf.compat.v1.get_default_graph()
    with _constants_lock:
        _constant_makers[graph] = make, min_bytes
        framework_ops._create_graph_constant = _make_constant
    try:
        yield
    finally:
        with _constants_lock:
            del _constant_makers[graph]
            if not _constant_makers:
                framework_ops._create_graph_constant = _constants


def _make_constant(value: Any, dtype: Any, shape: Any, name: Any, *more: Any, **named: Any) -> Any:
    make, min_bytes = _constant_makers.get(tf.compat.v1.get_default_graph(), (None, 0))
    made = None
    if make is not None and getattr(value, "nbytes", 0) >= min_bytes:
        made = make(value, dtype, shape, name)
    return _constants(value, dtype, shape, name, *more, **named) if made is None else made


def find_tensor(
    values: Callable[[], np.ndarray], dtype: np.dtype, shape: Sequence[int], name: str
) -> tf.Tensor:
    """Returns a tensor of the default graph whose values a Python function returns.

    Why internal: see the import.

    Args:
      values: Returns the same values each time.
      dtype: Their dtype.
      shape: Their shape.
      name: The name of the operation.
    """
    with tf.device("/cpu:0"):
        tensor = py_func_common(values, [], tf.as_dtype(dtype), stateful=False, name=name)
    tensor.set_shape(shape)
    return tensor
