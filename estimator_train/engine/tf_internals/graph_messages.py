"""Graphs as messages, serialized once for all readers, and as text with protobuf 7."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from google.protobuf.message import DecodeError

# Why internal: TensorFlow 2.20 writes graphs by an argument that protobuf 7 does not have.
from tensorflow.python.framework import graph_io

# Why internal: only `tf.saved_model.save`, which cannot write graphs of TensorFlow 1, calls it.
from tensorflow.python.saved_model import fingerprinting_utils

from estimator_train.engine.tf_internals.constants import count_constant_bytes

# A larger message of a graph, which contains large constants, is not kept in memory.
_MAX_KEPT_BYTES = 64 * 2**20
# protobuf's limit of a message.
_MAX_BYTES = 2**31 - 1
_NAMED_CONSTANTS = 5


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
