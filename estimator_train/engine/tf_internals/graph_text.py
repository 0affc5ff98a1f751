"""Graphs as text, which TensorFlow 2.20 cannot write with protobuf 7."""

import inspect
from typing import Any

from google.protobuf import text_format

# Why internal: TensorFlow 2.20 writes graphs by an argument that protobuf 7 does not have.
from tensorflow.python.framework import graph_io


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
