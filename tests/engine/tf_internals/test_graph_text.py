"""TensorFlow 2.20 writes graph.pbtxt with protobuf 7, which lost an argument of its text format."""

import tensorflow as tf
from google.protobuf import text_format

from estimator_train.engine.tf_internals import graph_text


def test_a_graph_is_written_without_float_format(monkeypatch, tmp_path):
    original = text_format.MessageToString

    def message_to_string(message, as_utf8=True):  # Without it, as in protobuf 7.
        return original(message, as_utf8=as_utf8)

    monkeypatch.setattr(text_format, "MessageToString", message_to_string)
    monkeypatch.setattr(graph_text.graph_io, "text_format", text_format)
    graph_text.mend_text_of_graphs()
    with tf.Graph().as_default() as graph:
        tf.constant(2.5, name="half")
    # What `tf.io.write_graph` of TensorFlow 2.20 calls; later ones call it without the argument.
    text = graph_text.graph_io.text_format.MessageToString(graph.as_graph_def(), float_format="")
    path = tf.io.write_graph(graph, str(tmp_path), "graph.pbtxt")
    with open(path) as file:
        assert file.read() == text
    assert "float_val: 2.5" in text
