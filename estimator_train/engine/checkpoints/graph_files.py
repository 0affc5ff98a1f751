"""The graph beside the checkpoints: `.meta` with each of them, and `graph.pbtxt`."""

import functools
import os
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

from estimator_train.engine.whole_files import write_whole

_TEXT = "graph.pbtxt"


class GraphFiles:
    """Writes what `tf.compat.v1.train.Saver` and its hook write of a graph, with less work."""

    def __init__(self) -> None:
        self._written: tuple[Any, ...] | None = None
        self._meta = b""

    def write_meta(self, saver: tf.compat.v1.train.Saver, graph: tf.Graph, checkpoint: str) -> None:
        """Writes the `.meta` of a checkpoint; the graph is serialized when it has changed.

        Args:
          saver: The Saver that wrote the checkpoint.
          graph: The graph that it is of.
          checkpoint: The checkpoint's path.
        """
        sizes = {name: len(graph.get_collection_ref(name)) for name in graph.collections}
        state = (graph, graph.version, saver, sizes)
        if self._written != state:
            with graph.as_default():
                self._meta = saver.export_meta_graph().SerializeToString(deterministic=True)
            self._written = state
        write_whole(f"{checkpoint}.meta", self._meta)

    def write_text(self, graph: tf.Graph, directory: str) -> None:
        """Writes a graph as text.

        Args:
          graph: The graph.
          directory: Where `graph.pbtxt` is to be.
        """
        tf.io.gfile.makedirs(directory)
        definition = graph.as_graph_def(add_shapes=True)
        text = str(definition) if _prints_text() else text_format.MessageToString(definition)
        write_whole(os.path.join(directory, _TEXT), text)


@functools.cache
def _prints_text() -> bool:
    """Whether a message's `str` is what text_format reads.

    It is many times as fast as text_format's own printer, which is written in Python, but is not
    promised to be text for machines.
    """
    with tf.Graph().as_default() as graph:
        tf.constant([0.1, float("nan"), float("-inf")], name="numbers")
        tf.constant([b"\x00\xff\n", '"\\é'.encode()], name="strings")
        definition = graph.as_graph_def(add_shapes=True)
    try:
        return bool(text_format.Parse(str(definition), tf.compat.v1.GraphDef()) == definition)
    except text_format.ParseError:
        return False
