"""Constants of a graph: large ones from a function, or from a Python function that runs later."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

# Why internal: an array has become a message of the graph before public code sees it (see
# `replace_constants`).
from tensorflow.python.framework import ops as framework_ops

# Why internal: its public forms place it on a device of one process or say that they are deprecated
# (see `find_tensor`).
from tensorflow.python.ops.script_ops import py_func_common

_constants = framework_ops._create_graph_constant
_constants_lock = threading.Lock()
# By graph: other threads, and the graphs of functions, are not affected.
_constant_makers: weakref.WeakKeyDictionary[tf.Graph, tuple[Callable[..., Any], int]] = (
    weakref.WeakKeyDictionary()
)


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
