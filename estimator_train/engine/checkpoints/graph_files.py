"""Files that describe the graph: a `.meta` file for each checkpoint, and `graph.pbtxt`."""

import functools
import os
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

from estimator_train.engine.files import atomic_write

_TEXT = "graph.pbtxt"


class GraphFiles:
    """The files that TensorFlow's Saver and its hook write of a graph, with less work."""

    def __init__(self) -> None:
        self._written: tf.Graph | None = None
        self._serialized: tuple[Any, ...] | None = None
        self._meta = b""

    def serialize_meta(self, saver: tf.compat.v1.train.Saver, graph: tf.Graph) -> bytes:
        """Returns the content of a `.meta` file; serializes the graph only if it has changed.

        Args:
          saver: The Saver that writes the checkpoint.
          graph: The graph of the checkpoint; no other thread may change it now.
        """
        sizes = {name: len(graph.get_collection_ref(name)) for name in graph.collections}
        state = (graph, graph.version, saver, sizes)
        if self._serialized != state:
            with graph.as_default():
                self._meta = saver.export_meta_graph().SerializeToString(deterministic=True)
            self._serialized = state
        return self._meta

    def write_text(self, graph: tf.Graph, directory: str) -> None:
        """Writes a graph as text, unless this method wrote it before.

        Args:
          graph: The graph.
          directory: The directory of `graph.pbtxt`.
        """
        if graph is self._written:
            return
        tf.io.gfile.makedirs(directory)
        definition = graph.as_graph_def(add_shapes=True)
        text = str(definition) if _prints_text() else text_format.MessageToString(definition)
        atomic_write(os.path.join(directory, _TEXT), text)
        self._written = graph


@functools.cache
def _prints_text() -> bool:
    """Returns whether text_format can parse the `str` of a message.

    `str` is many times as fast as text_format's printer, which is Python code, but protobuf does
    not guarantee that its output can be parsed.
    """
    with tf.Graph().as_default() as graph:
        tf.constant([0.1, float("nan"), float("-inf")], name="numbers")
        tf.constant([b"\x00\xff\n", '"\\é'.encode()], name="strings")
        definition = graph.as_graph_def(add_shapes=True)
    try:
        return bool(text_format.Parse(str(definition), tf.compat.v1.GraphDef()) == definition)
    except text_format.ParseError:
        return False
