"""Graphs: their operations, changes of a graph that exists, and their messages.

A message is serialized once for all readers, and written as text with protobuf 7.
"""

import contextlib
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session

# Why internal: TensorFlow 2.20 writes graphs by an argument that protobuf 7 does not have.
from tensorflow.python.framework import graph_io, op_def_registry

# Why internal: only `tf.saved_model.save`, which cannot write graphs of TensorFlow 1, calls it.
from tensorflow.python.saved_model import fingerprinting_utils

from estimator_train.engine.tf_internals.constants import count_constant_bytes

# Operations of a graph that a session prepares for a call longer than some steps take.
LARGE_GRAPH = 5000
# A larger message of a graph, which contains large constants, is not kept in memory.
_MAX_KEPT_BYTES = 64 * 2**20
# protobuf's limit of a message.
_MAX_BYTES = 2**31 - 1
_NAMED_CONSTANTS = 5


def is_large(graph: tf.Graph) -> bool:
    """Returns whether calls that a session prepares are to be few, and small."""
    # Each change of a graph counts, as that adds an operation.
    return bool(graph.version >= LARGE_GRAPH)


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


def list_grouped(group: tf.Operation) -> list[tf.Operation]:
    """Returns the operations of a `tf.group`, also of groups in it."""

    def before(operation: tf.Operation) -> list[tf.Operation]:
        return operation.control_inputs if operation.type == "NoOp" else []

    return [found for found in walk([group], before) if found.type != "NoOp"]


def add_functions(definition: tf.compat.v1.GraphDef, graph: tf.Graph) -> None:
    """Adds the functions that the nodes of a definition call, directly or through others."""
    called = _list_called(definition.node)
    if not called:
        return
    library = graph.as_graph_def().library.function
    functions = {function.signature.name: function for function in library}
    reached: set[str] = set()
    while called:
        name = called.pop()
        if name in functions and name not in reached:
            reached.add(name)
            called |= _list_called(functions[name].node_def)
    definition.library.function.extend(functions[name] for name in functions if name in reached)


def _list_called(nodes: Iterable[tf.compat.v1.NodeDef]) -> set[str]:
    """Returns the names of the functions in the attributes of nodes."""
    values = [value for node in nodes for value in node.attr.values()]
    lists = [function.name for value in values for function in value.list.func]
    return {*lists, *(value.func.name for value in values if value.HasField("func"))}


def is_stateful(operation_type: str) -> bool:
    """Returns whether operations of a type keep state, or may; True for an unknown type.

    Why internal: nodes of a graph's functions have no `op_def`, and the registry is private.
    """
    definition = op_def_registry.get(operation_type)
    return definition is None or definition.is_stateful


def list_definitions() -> list[op_def_pb2.OpDef]:
    """Returns the definitions of all types of operations.

    Why internal: `tf.raw_ops` has their names, but not their inputs and attributes.
    """
    message = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    return list(op_def_pb2.OpList.FromString(message).op)


def set_input(operation: tf.Operation, index: int, tensor: tf.Tensor) -> None:
    """Makes an existing operation take another tensor as its input `index`.

    Why internal: no public API changes the inputs of an existing operation.
    """
    operation._update_input(index, tensor)


def drop_control_inputs(operation: tf.Operation, removed: Collection[tf.Operation]) -> None:
    """Makes an existing operation no longer wait for others.

    Why internal: no public API removes a control input from an existing operation.
    """
    kept = [before for before in operation.control_inputs if before not in removed]
    operation._remove_all_control_inputs()
    operation._add_control_inputs(kept)


def run_after(operation: tf.Operation, before: tf.Operation) -> None:
    """Makes an existing operation run after another one.

    Why internal: no public API adds a control input to an existing operation.
    """
    operation._add_control_input(before)


def is_in_control_flow(operation: tf.Operation) -> bool:
    """Returns whether an operation runs only in a branch or loop of TensorFlow 1.

    Why internal: no public API tells the branch of an operation. Others must not wait for it.
    """
    return operation._get_control_flow_context() is not None


def replace_input(operation: tf.Operation, old: tf.Tensor, new: tf.Tensor) -> None:
    """Makes an existing operation take another tensor wherever it takes `old`."""
    for index, tensor in enumerate(operation.inputs):
        if tensor.name == old.name:
            set_input(operation, index, new)


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


class GraphTooLargeError(ValueError, DecodeError):
    """Error for a graph whose constants do not fit into a message.

    It has the type of the error of protobuf, which comes a minute later.
    """


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


@contextlib.contextmanager
def serialize_once(graph: tf.Graph) -> Iterator[None]:
    """Serializes a graph once in the context, as long as no operation is added.

    A graph that is too large raises GraphTooLargeError.

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
            _check_size(graph)
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


def _check_size(graph: tf.Graph) -> None:
    """Checks that the constants of a graph fit into a message.

    Raises:
      GraphTooLargeError: They do not.
    """
    if count_constant_bytes(graph) <= _MAX_BYTES:
        return
    constants = (op.outputs[0] for op in graph.get_operations() if op.type == "Const")
    sizes = {
        value.op.name: (value.shape.num_elements() or 0) * value.dtype.size for value in constants
    }
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_NAMED_CONSTANTS]
    raise GraphTooLargeError(
        f"The constants of the graph take {_format(sum(sizes.values()))}, and TensorFlow can store "
        "a graph of at most 2 GB. The largest constants are "
        + ", ".join(f"{name} ({_format(sizes[name])})" for name in largest)
        + ". Give large arrays to a dataset in input_fn (tf.data.Dataset.from_tensor_slices), or "
        "to a variable by an init_fn of the Scaffold that feeds them."
    )


def _format(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def write_fingerprint(export_dir: str) -> None:
    """Writes fingerprint.pb into the directory of a SavedModel.

    `tf.saved_model.experimental.read_fingerprint` and model registries compare models by it.

    Args:
      export_dir: Directory with saved_model.pb and the variables.
    """
    fingerprinting_utils.write_fingerprint(export_dir)
