"""Graphs as messages, serialized once for all readers, and as text with protobuf 7."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

# Why internal: TensorFlow 2.20 writes graphs by an argument that protobuf 7 does not have.
from tensorflow.python.framework import graph_io

# A larger message of a graph, which contains large constants, is not kept in memory.
_MAX_KEPT_BYTES = 64 * 2**20


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
