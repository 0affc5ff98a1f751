"""TensorFlow 2.20 writes graph.pbtxt with protobuf 7, which lost an argument of its text format."""

import tensorflow as tf
from google.protobuf import text_format

from estimator_train.engine.tf_internals import graph_messages


def test_a_graph_is_written_without_float_format(monkeypatch, tmp_path):
    original = text_format.MessageToString

    def message_to_string(message, as_utf8=True):  # Without it, as in protobuf 7.
        return original(message, as_utf8=as_utf8)

    monkeypatch.setattr(text_format, "MessageToString", message_to_string)
    monkeypatch.setattr(graph_messages.graph_io, "text_format", text_format)
    graph_messages.mend_text_of_graphs()
    with tf.Graph().as_default() as graph:
        tf.constant(2.5, name="half")
    # What `tf.io.write_graph` of TensorFlow 2.20 calls; later ones call it without the argument.
    text = graph_messages.graph_io.text_format.MessageToString(
        graph.as_graph_def(), float_format=""
    )
    path = tf.io.write_graph(graph, str(tmp_path), "graph.pbtxt")
    with open(path) as file:
        assert file.read() == text
    assert "float_val: 2.5" in text


def test_a_graph_is_serialized_once_until_an_operation_is_added(monkeypatch):
    calls = []
    serialize = tf.Graph.as_graph_def

    def count(graph, *arguments, **named):
        calls.append(arguments)
        return serialize(graph, *arguments, **named)

    monkeypatch.setattr(tf.Graph, "as_graph_def", count)
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
        with graph_messages.serialize_once(graph):
            changed = graph.as_graph_def(add_shapes=True)
            changed.node[0].name = "two"
            again = graph.as_graph_def(add_shapes=True)
            assert (len(calls), again) == (1, serialize(graph, add_shapes=True))
            assert "_output_shapes" not in graph.as_graph_def().node[0].attr
            tf.constant(2)
            assert len(graph.as_graph_def(add_shapes=True).node) == 2
            assert len(calls) == 3
        graph.as_graph_def()
        graph.as_graph_def()
        assert len(calls) == 5


def test_a_message_with_large_constants_is_not_kept(monkeypatch):
    monkeypatch.setattr(graph_messages, "_MAX_KEPT_BYTES", 10)
    with tf.Graph().as_default() as graph, graph_messages.serialize_once(graph):
        tf.constant(1)
        graph.as_graph_def().node[0].name = "changed"
        assert graph.as_graph_def().node[0].name == "Const"
