"""All uses of TensorFlow's internals by the engine.

Each entry states why the public API does not suffice.
"""

import contextlib
import inspect
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

# Why internal: the message has no public name (see `session_call`).
from tensorflow.core.protobuf.config_pb2 import CallableOptions

# Why internal: AutoGraph can be told of a function, not of a package (see `never_convert`).
from tensorflow.python.autograph.core import config as autograph_rules

# Why internal: a Checkpoint alone does not say which variables it reaches (see `saver_by_places`).
from tensorflow.python.checkpoint.graph_view import ObjectGraphView

# Why internal: a Saver takes as its session only what inherits from this (see `background_saver`).
from tensorflow.python.client.session import SessionInterface as SessionInterface

# Why internal: `graph_io`, since TensorFlow 2.20 writes graphs by an argument that protobuf 7 does
# not have (see `_Text`); `ops`, since an array has become a message of the graph before public code
# sees it (see `constants_made_by`).
from tensorflow.python.framework import graph_io, ops as framework_ops

# Why internal: its public forms place it on a device of one process or say that they are deprecated
# (see `tensor_of`).
from tensorflow.python.ops.script_ops import py_func_common

# Why internal: a Saver restores object-based checkpoints by it, too late (see
# `prepare_restore_by_places`).
from tensorflow.python.training.saver import saver_from_object_based_checkpoint

# Why internal: a Saver accepts objects other than variables only as SaveableObjects (see
# `CheckpointEntry`).
from tensorflow.python.training.saving.saveable_object import SaveableObject, SaveSpec

# Why internal: TensorFlow's hooks all fetch one cached read of the global step, and only this
# function gives it (see `read_step_before_increment`).
from tensorflow.python.training.training_util import (
    GLOBAL_STEP_READ_KEY,
    _get_or_create_global_step_read,
)


class _Text:
    """`text_format` for TensorFlow 2.20, which pip may install with protobuf 7.

    Why internal: its `tf.io.write_graph`, of which CheckpointSaverHook makes graph.pbtxt, gives
    MessageToString a `float_format` that is empty and that protobuf 7 refuses.
    """

    @staticmethod
    def MessageToString(message: Any, **options: Any) -> str:  # noqa: N802  protobuf's name
        """Returns the text of a message."""
        options.pop("float_format", None)
        return text_format.MessageToString(message, **options)


def mend_text_of_graphs() -> None:
    """Makes TensorFlow 2.20 write graphs as text with protobuf 7 (see `_Text`)."""
    if "float_format" not in inspect.signature(text_format.MessageToString).parameters:
        graph_io.text_format = _Text


mend_text_of_graphs()


def never_convert(package: str) -> None:
    """Excludes a package from AutoGraph's conversion, like TensorFlow itself.

    Why internal: the public decorator would have to stand at each function of a package.
    """
    rule = autograph_rules.DoNotConvert(package)
    autograph_rules.CONVERSION_RULES = (rule, *autograph_rules.CONVERSION_RULES)


_ASSIGNMENTS = ("AssignAddVariableOp", "AssignVariableOp", "AssignAdd", "Assign")


def saver_by_places(checkpoint: tf.train.Checkpoint) -> tf.compat.v1.train.Saver:
    """Returns a Saver of all objects of a Checkpoint, with object-based keys.

    Why internal: a session's Scaffold makes such a Saver, and finalizes the graph with it.
    """
    entries = ObjectGraphView(checkpoint).frozen_saveable_objects()
    return tf.compat.v1.train.Saver(entries, sharded=True)


def prepare_restore_by_places(saver: tf.compat.v1.train.Saver, checkpoint_path: str) -> None:
    """Lets a Saver that names variables restore an object-based checkpoint in a final graph.

    Does nothing where the checkpoint lacks variables; `Saver.restore` then names them.

    Why internal: `Saver.restore` itself adds the operations for such a checkpoint to the graph, and
    a session's Scaffold has finalized that.

    Args:
      saver: A Saver of the default graph, built or not.
      checkpoint_path: Path prefix of the object-based checkpoint.
    """
    with contextlib.suppress(tf.errors.NotFoundError):
        saver._object_restore_saver = saver_from_object_based_checkpoint(checkpoint_path)
        saver._object_restore_saver_for_checkpoint = checkpoint_path


def scaled_loss(strategy: tf.distribute.Strategy) -> contextlib.AbstractContextManager[None]:
    """Makes v1 optimizers in the context divide the loss by the number of replicas.

    Why internal: v1 optimizers do so only where the strategy says that an Estimator is at work, and
    only this context says it.
    """
    return strategy._scale_loss_for_estimator_enabled()


def loss_was_scaled(graph: tf.Graph) -> bool:
    """Returns whether a v1 optimizer of `graph` divided its loss by the number of replicas.

    Why internal: the optimizer leaves the fact only as this attribute of the graph, and the loss
    that is reported is the replicas' mean if it is set, otherwise their sum.
    """
    return getattr(graph, "_is_loss_scaled_by_optimizer", False)


def input_iterator(
    strategy: tf.distribute.Strategy,
    input_fn: Callable[[tf.distribute.InputContext], tf.data.Dataset],
) -> Any:
    """Returns a graph-mode iterator that feeds every replica from `input_fn`.

    Why internal: the public form is gone from TF2 strategies; those that replaced it return
    iterators for eager code.
    """
    with _options_read_in_graphs():
        return strategy.extended._make_input_fn_iterator(input_fn)


def options_of(dataset: tf.data.Dataset) -> tf.data.Options:
    """Returns the options of a dataset of the default graph.

    Why here: it suppresses the same warning as `input_iterator`.
    """
    with _options_read_in_graphs():
        return dataset.options()


@contextlib.contextmanager
def _options_read_in_graphs() -> Iterator[None]:
    """Silences tf.data's warning that options are read in graph mode, as is wanted here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="To make it possible to preserve tf.data options")
        yield


_constants = framework_ops._create_graph_constant
_constants_lock = threading.Lock()
# By graph: other threads, and the graphs of functions, are not affected.
_constant_makers: weakref.WeakKeyDictionary[tf.Graph, tuple[Callable[..., Any], int]] = (
    weakref.WeakKeyDictionary()
)


@contextlib.contextmanager
def constants_made_by(make: Callable[..., tf.Tensor | None], min_bytes: int) -> Iterator[None]:
    """Makes the default graph's large constants through a function.

    Why internal: `tf.constant` and all that makes constants of arrays, as
    `Dataset.from_tensor_slices`, end in this one function, and it copies the array several times.

    Args:
      make: Takes (value, dtype, shape, name) of a constant; returns None for a normal constant.
      min_bytes: Minimum size (`nbytes`) of a large constant.
    """
    graph = tf.compat.v1.get_default_graph()
    with _constants_lock:
        before = _constant_makers.get(graph)
        _constant_makers[graph] = make, min_bytes
        framework_ops._create_graph_constant = _constant
    try:
        yield
    finally:
        with _constants_lock:
            if before is None:
                del _constant_makers[graph]
            else:
                _constant_makers[graph] = before
            if not _constant_makers:
                framework_ops._create_graph_constant = _constants


def _constant(value: Any, dtype: Any, shape: Any, name: Any, *more: Any, **named: Any) -> Any:
    make, min_bytes = _constant_makers.get(tf.compat.v1.get_default_graph(), (None, 0))
    is_large = make is not None and getattr(value, "nbytes", 0) >= min_bytes
    made = make(value, dtype, shape, name) if make is not None and is_large else None
    return _constants(value, dtype, shape, name, *more, **named) if made is None else made


def tensor_of(
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


def iterator_handle(iterator: Any) -> tf.Tensor:
    """Returns the resource handle of a graph-mode iterator.

    Why internal: operations that save and restore an iterator take its handle, which is private.
    """
    return iterator._iterator_resource


def datasets_before(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """Returns the datasets that a dataset reads from.

    Why internal: the inputs of a dataset are private.
    """
    return dataset._inputs()


def saving_prefix(hook: tf.compat.v1.train.CheckpointSaverHook) -> str:
    """Returns the path prefix of a saver hook's checkpoints, without the step.

    Why internal: the arguments of the hook are private.
    """
    return hook._save_path


def communication_of(strategy: tf.distribute.Strategy) -> Any:
    """Returns how a MultiWorkerMirroredStrategy communicates: AUTO, RING or NCCL.

    Why internal: the arguments of a strategy are private, and its graph-mode form needs them.
    """
    return strategy.extended._communication_options.implementation


def collective_launchers(strategy: tf.distribute.Strategy) -> Sequence[Any]:
    """Returns the launchers of a MultiWorkerMirroredStrategy's collectives, one for each replica.

    Why internal: their gathering of rows in graphs fails when the number of rows changes.
    """
    return strategy.extended._cross_device_ops._launchers


def left_to_choose_its_sums(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether a MirroredStrategy was constructed without cross_device_ops.

    Why internal: the arguments of a strategy are private, and its graph-mode form needs them.
    """
    return strategy.extended._cross_device_ops is strategy.extended._collective_ops


def add_listeners(
    hook: tf.compat.v1.train.CheckpointSaverHook,
    listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
    first: bool = False,
) -> None:
    """Adds listeners to a saver hook.

    Why internal: a CheckpointSaverHook accepts listeners only in its constructor.

    Args:
      hook: The hook, before there is a session.
      listeners: The listeners.
      first: Whether the new listeners come before those of the hook.
    """
    at = 0 if first else len(hook._listeners)
    hook._listeners[at:at] = listeners


def save_now(
    hook: tf.compat.v1.train.CheckpointSaverHook, session: tf.compat.v1.Session, step: int
) -> bool:
    """Writes a checkpoint with a saver hook, in addition to those of its timer.

    Why internal: a CheckpointSaverHook saves only when its own timer says so.

    Args:
      hook: The hook, in a running session, before it sees this step itself.
      session: The raw session.
      step: The global step now.

    Returns:
      Whether a listener asks for training to stop.
    """
    if hook._timer.should_trigger_for_step(step):
        count_as_saved(hook, step)
    return bool(hook._save(session, step))


def save_only_when(
    hook: tf.compat.v1.train.CheckpointSaverHook, is_agreed: Callable[[], bool]
) -> None:
    """Makes a saver hook save only if a function agrees, except at the start of a session.

    Why internal: a CheckpointSaverHook creates its timer.

    Args:
      hook: The hook, before there is a session.
      is_agreed: Returns whether a checkpoint may be written after the last step.
    """
    is_due = hook._timer.should_trigger_for_step
    hook._timer.should_trigger_for_step = lambda step: is_agreed() and is_due(step)


def set_interval(
    hook: tf.compat.v1.train.CheckpointSaverHook,
    *,
    steps: int | None = None,
    secs: float | None = None,
) -> None:
    """Changes how long after its last checkpoint a saver hook writes the next.

    Why internal: the interval of a CheckpointSaverHook is in its private timer.

    Args:
      hook: The hook.
      steps: Number of steps; None for a hook that counts seconds.
      secs: Number of seconds; None for a hook that counts steps.
    """
    hook._timer._every_steps, hook._timer._every_secs = steps, secs


def count_as_saved(hook: tf.compat.v1.train.CheckpointSaverHook, step: int) -> None:
    """Marks a step as saved, so that a saver hook writes no checkpoint for it.

    Why internal: the last saved step is in the private timer of the hook.
    """
    hook._timer.update_last_triggered_step(step)


def global_step_read() -> tf.Tensor:
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
    of_step = _operations_run_by(getattr(train_op, "op", train_op))
    for operation in primary.op.outputs[0].consumers():
        in_control_flow = operation._get_control_flow_context() is not None
        if operation.type in _ASSIGNMENTS and operation in of_step and not in_control_flow:
            operation._add_control_input(read.op)
    return read


def _operations_run_by(*operations: tf.Operation) -> set[tf.Operation]:
    """Returns all operations that run when `operations` run, `operations` included."""
    found = set(operations)
    stack = [*found]
    while stack:
        operation = stack.pop()
        for before in (*operation.control_inputs, *(tensor.op for tensor in operation.inputs)):
            if before not in found:
                found.add(before)
                stack.append(before)
    return found


def run_after(operation: tf.Operation, before: tf.Operation) -> None:
    """Makes an existing operation run after another one.

    Why internal: no public API adds a control input to an existing operation.
    """
    operation._add_control_input(before)


def reopen(graph: tf.Graph) -> None:
    """Lets operations be added to a graph that creating its session finalized.

    Why internal: a Scaffold finalizes the graph for good; a kept model takes a new input for each
    call, and the session sees added operations.
    """
    graph._unsafe_unfinalize()


@contextlib.contextmanager
def reopened(graph: tf.Graph) -> Iterator[None]:
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


def session_call(
    session: tf.compat.v1.Session,
    feeds: Sequence[tf.Tensor],
    fetches: Sequence[tf.Tensor],
    *,
    in_this_thread: bool = False,
) -> Callable[..., list[Any]]:
    """Returns a function from the values of `feeds` (NumPy arrays) to those of `fetches`.

    Why internal: the public `make_callable` goes the way of `Session.run` as soon as there are
    feeds or options, and takes apart feeds and fetches again at each call.

    Args:
      session: A raw session.
      feeds: Tensors whose values the function takes.
      fetches: Tensors whose values it returns.
      in_this_thread: Whether the caller's thread runs the operations, one after the other.
    """
    options = CallableOptions()
    options.run_options.inter_op_thread_pool = -1 if in_this_thread else 0
    options.feed.extend(tensor.name for tensor in feeds)
    options.fetch.extend(tensor.name for tensor in fetches)
    return session._make_callable_from_options(options)


def keep_broadcasts(global_step: tf.Variable, fed: Iterable[tf.Tensor]) -> None:
    """Makes the chief of synchronous workers broadcast fed initial values.

    A fed initial value is not computed, so that the operation that sends it would not run, and the
    other workers would wait.

    Why internal: no public API adds a control input to an existing operation.

    Args:
      global_step: The variable that is always among the initialized ones.
      fed: Tensors that are fed when variables are initialized.
    """
    initializer = getattr(global_step, "values", (global_step,))[0].initializer
    for operation in [operation for tensor in fed for operation in tensor.consumers()]:
        if operation.type == "CollectiveBcastSend":
            initializer._add_control_input(operation)


def entries_of_own_values() -> list[Any] | None:
    """Returns the entries of a synchronous worker's Saver, none of which needs a collective.

    Why internal: see `CheckpointEntry`.

    Returns:
      The entries; None if no variable is spread over the workers.
    """
    variables = [*tf.compat.v1.global_variables(), *_saveable_objects()]
    if not any(_is_spread(variable) for variable in variables):
        return None
    return [
        CheckpointEntry.of_variable(variable.name.partition(":")[0], variable)
        if _is_spread(variable)
        else variable
        for variable in variables
    ]


def _saveable_objects() -> list[Any]:
    return tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS)


def _is_spread(variable: Any) -> bool:
    """Returns whether a variable is spread over the workers, so that reading it is a collective."""
    strategy = getattr(variable, "distribute_strategy", None)
    return (
        strategy is not None
        and strategy.extended._in_multi_worker_mode()
        and variable.synchronization == tf.VariableSynchronization.ON_READ
    )


def _own_value(variable: tf.Variable) -> tf.Tensor:
    """Returns the part of a variable's value that this process has."""
    if not _is_spread(variable):
        return variable.read_value()
    values = [part.read_value() for part in variable.values]
    total = tf.add_n(values)
    is_mean = variable.aggregation == tf.VariableAggregation.MEAN
    return total / len(values) if is_mean else total


class CheckpointEntry(SaveableObject):
    """Entry of a Saver: a tensor with any name, and the operation that restores it.

    Why internal: a Saver accepts variables under other names, but not mirrored variables or
    constants.

    Args:
      name: The key in the checkpoint.
      tensor: The tensor to write.
      restore: Returns the operation that assigns a restored tensor.
    """

    def __init__(
        self, name: str, tensor: tf.Tensor, restore: Callable[[tf.Tensor], tf.Operation]
    ) -> None:
        self._restore = restore
        spec = SaveSpec(tensor, "", name, dtype=tensor.dtype, device=tensor.device)
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors: Sequence[tf.Tensor], restored_shapes: Any) -> Any:
        """Returns the operation that assigns the restored tensor."""
        del restored_shapes
        return self._restore(restored_tensors[0])

    @classmethod
    def of_variable(
        cls, name: str, variable: tf.Variable, checks_shape: bool = True
    ) -> "CheckpointEntry":
        """Makes an entry for a variable's value; called outside of replicas."""

        def assign(value: tf.Tensor) -> tf.Operation:
            # An assignment alone accepts a value of another shape.
            checked = tf.ensure_shape(value, variable.shape) if checks_shape else value
            return tf.group(variable.assign(checked))

        return cls(name, _own_value(variable), assign)

    @classmethod
    def of_constant(cls, name: str, value: bytes) -> "CheckpointEntry":
        """Returns an entry that every save writes and no restore reads."""
        return cls(name, tf.constant(value), lambda restored: tf.group(restored))


def current_session(session: tf.compat.v1.train.MonitoredSession) -> tf.compat.v1.Session:
    """Returns the raw session that a MonitoredSession uses now.

    A MonitoredSession that recovers from the failure of another task creates a new raw session. The
    context that `run_step_fn` passes to its function still has the old one.
    """
    return session._tf_sess()
