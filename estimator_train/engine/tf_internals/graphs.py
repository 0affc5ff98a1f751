"""Graphs: constants, the order of operations, changes of a final graph, parallel restores."""

import contextlib
import functools
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

# Why internal: a Saver takes its operations from a builder, whose classes have no public name (see
# `RestoreByParts`).
from tensorflow.python.training.saver import BulkSaverBuilder

# Why internal: TensorFlow's hooks all fetch one cached read of the global step, and only this
# function gives it (see `read_step_before_increment`).
from tensorflow.python.training.training_util import (
    GLOBAL_STEP_READ_KEY,
    _get_or_create_global_step_read,
)

_Entry = TypeVar("_Entry")
# A part of a checkpoint that one operation reads has at least this size.
_PART_BYTES = 16 * 2**20
# A larger message of a graph, which contains large constants, is not kept in memory.
_MAX_KEPT_BYTES = 64 * 2**20
_ASSIGNMENTS = ("AssignAddVariableOp", "AssignVariableOp", "AssignAdd", "Assign")
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


def find_global_step_read() -> tf.Tensor:
    """Returns the read of the global step that TensorFlow's hooks fetch with a step.

    Why internal: only this read is ordered before the step's increment (see below).
    """
    return _get_or_create_global_step_read()


def read_step_before_increment(
    global_step: tf.Variable, train_op: tf.Operation | tf.Tensor
) -> tf.Tensor:
    """Returns a read of the global step that runs before the training step increments it.

    TensorFlow's hooks expect the value before the step, but nothing orders the read and the
    increment of one session call: a small model sometimes fetches the value after it, and a hook
    fires one step off. Only assignments that the training step runs are ordered: an object-based
    saver restores the global step by another assignment, when there is nothing to read yet.

    Why internal: no public API adds a control input to an existing operation.

    Args:
      global_step: The global step of the default graph, after model_fn was called.
      train_op: The operation of the training step.

    Returns:
      The int64 scalar tensor that hooks fetch.
    """
    primary = getattr(global_step, "values", (global_step,))[0]
    if primary is not global_step:
        # Its own read would have the variable's initializer as an alternative, and with it, under
        # strategies of several workers, a collective in whatever session call reads the step.
        graph = tf.compat.v1.get_default_graph()
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, primary.read_value())
    read = _get_or_create_global_step_read()
    of_step = set(walk([getattr(train_op, "op", train_op)]))
    for operation in primary.op.outputs[0].consumers():
        in_control_flow = operation._get_control_flow_context() is not None
        if operation.type in _ASSIGNMENTS and operation in of_step and not in_control_flow:
            operation._add_control_input(read.op)
    return read


def count_bytes(value: tf.Tensor | tf.Variable) -> int:
    """Returns the size of a tensor or variable in bytes; 0 if its shape is not known."""
    return int(value.shape.num_elements() or 0) * int(value.dtype.size)


def divide(
    entries: Iterable[_Entry], count: Callable[[_Entry], int], min_bytes: int
) -> list[list[_Entry]]:
    """Returns entries in parts of at least `min_bytes`, in their order; the last may be smaller.

    Args:
      entries: The entries.
      count: Returns the size of an entry in bytes.
      min_bytes: Minimum size of a part.
    """
    parts: list[list[_Entry]] = [[]]
    size = 0
    for entry in entries:
        if size >= min_bytes:
            parts.append([])
            size = 0
        parts[-1].append(entry)
        size += count(entry)
    return parts


def list_operations_before(operation: tf.Operation) -> list[tf.Operation]:
    """Returns the operations whose end or result an operation needs."""
    return [*operation.control_inputs, *(tensor.op for tensor in operation.inputs)]


def walk(
    targets: Iterable[tf.Operation],
    before: Callable[[tf.Operation], Iterable[tf.Operation]] = list_operations_before,
) -> Iterator[tf.Operation]:
    """Yields operations and those that they need, each once.

    Args:
      targets: The operations to begin with.
      before: Returns the operations to continue with after one was yielded.
    """
    seen: set[tf.Operation] = set()
    stack = [*targets]
    while stack:
        operation = stack.pop()
        if operation not in seen:
            seen.add(operation)
            yield operation
            stack.extend(before(operation))


def run_after(operation: tf.Operation, before: tf.Operation) -> None:
    """Makes an existing operation run after another one.

    Why internal: no public API adds a control input to an existing operation.
    """
    operation._add_control_input(before)


def replace_input(operation: tf.Operation, old: tf.Tensor, new: tf.Tensor) -> None:
    """Makes an existing operation take another tensor wherever it takes `old`.

    Why internal: no public API changes the inputs of an existing operation.
    """
    for index, tensor in enumerate(operation.inputs):
        if tensor.name == old.name:
            operation._update_input(index, new)


def has_dependents(operation: tf.Operation) -> bool:
    """Returns whether another operation needs the result or the end of an operation.

    Why internal: the operations that wait for an operation's end have no public name.
    """
    return bool(operation.outputs[0].consumers() or operation._control_outputs)


def reopen(graph: tf.Graph) -> None:
    """Lets operations be added to a graph that creating its session finalized.

    Why internal: a Scaffold finalizes the graph for good; a kept model takes a new input for each
    call, and the session sees added operations.
    """
    graph._unsafe_unfinalize()


@contextlib.contextmanager
def reopen_for_context(graph: tf.Graph) -> Iterator[None]:
    """Allows operations to be added to a finalized graph in the context.

    Why internal: see `reopen`.
    """
    was_final = graph.finalized
    reopen(graph)
    try:
        yield
    finally:
        if was_final:
            graph.finalize()


@contextlib.contextmanager
def serialize_once(graph: tf.Graph) -> Iterator[None]:
    """Serializes a graph once in the context, as long as no operation is added.

    When a session opens, TensorFlow's hooks serialize the graph for the event file, and Savers for
    the files of the checkpoint: six times in all.

    Why internal: it replaces a method of the graph, so that all of them use it.
    """
    serialize = graph.as_graph_def
    messages: dict[tuple[int, int | None, bool], tf.compat.v1.GraphDef] = {}

    def as_graph_def(
        from_version: int | None = None, add_shapes: bool = False, **way: Any
    ) -> tf.compat.v1.GraphDef:
        key = graph.version, from_version, add_shapes
        if key not in messages:
            message = serialize(from_version, add_shapes, **way)
            if message.ByteSize() > _MAX_KEPT_BYTES:
                return message
            messages[key] = message
        # The caller may change its message.
        copy = tf.compat.v1.GraphDef()
        copy.CopyFrom(messages[key])
        return copy

    graph.as_graph_def = as_graph_def
    try:
        yield
    finally:
        del graph.as_graph_def


class RestoreByParts(BulkSaverBuilder):
    """Builder of a Saver that reads a large checkpoint by several operations, at the same time.

    The operation that TensorFlow's Saver uses reads one value after another, in one thread.

    Why internal: see the import.
    """

    def bulk_restore(
        self,
        filename_tensor: tf.Tensor,
        saveables: Sequence[Any],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[tf.Tensor]:
        """Returns the restored tensors of all entries, in their order."""
        # Other objects than tensors and variables, such as tables, are not large.
        parts = divide(
            saveables,
            lambda saveable: count_bytes(saveable.op) if hasattr(saveable.op, "shape") else 0,
            _PART_BYTES,
        )
        restore = functools.partial(super().bulk_restore, filename_tensor)
        restored = [restore(part, preferred_shard, restore_sequentially) for part in parts]
        return [tensor for tensors in restored for tensor in tensors]
