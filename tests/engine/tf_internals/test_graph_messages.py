"""TensorFlow 2.20 writes graph.pbtxt with protobuf 7, which lost an argument of its text format."""

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import estimator_train as est
from estimator_train.engine.tf_internals import graphs


def test_a_graph_is_written_without_float_format(monkeypatch, tmp_path):
    original = text_format.MessageToString

    def message_to_string(message, as_utf8=True):  # Without it, as in protobuf 7.
        return original(message, as_utf8=as_utf8)

    monkeypatch.setattr(text_format, "MessageToString", message_to_string)
    monkeypatch.setattr(graphs.graph_io, "text_format", text_format)
    graphs.mend_text_of_graphs()
    with tf.Graph().as_default() as graph:
        tf.constant(2.5, name="half")
    # What `tf.io.write_graph` of TensorFlow 2.20 calls; later ones call it without the argument.
    text = graphs.graph_io.text_format.MessageToString(graph.as_graph_def(), float_format="")
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
        with graphs.serialize_once(graph):
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
    monkeypatch.setattr(graphs, "_MAX_KEPT_BYTES", 10)
    with tf.Graph().as_default() as graph, graphs.serialize_once(graph):
        tf.constant(1)
        graph.as_graph_def().node[0].name = "changed"
        assert graph.as_graph_def().node[0].name == "Const"


def large_model_fn(features, labels, mode):
    tables = [
        tf.constant(np.ones([size, 1000], np.float32), name=f"t{size}") for size in (300, 200)
    ]
    w = tf.compat.v1.get_variable("w", [])
    loss = sum(tf.reduce_sum(table[0]) for table in tables) * w
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, {"loss": loss}, loss, step.assign_add(1))


def one_batch():
    return tf.data.Dataset.from_tensors([1.0])


def receiver_fn():
    x = tf.compat.v1.placeholder(tf.float32, [None])
    return est.export.ServingInputReceiver(x, x)


@pytest.mark.parametrize("verb", ["train", "evaluate", "export_saved_model"])
def test_an_error_names_the_constants_of_a_graph_that_is_too_large(monkeypatch, tmp_path, verb):
    estimator = est.Estimator(large_model_fn, tmp_path / "m")
    if verb != "train":
        estimator.train(one_batch, steps=1)
    monkeypatch.setattr(graphs, "_MAX_BYTES", 1_990_000)  # The constants have 2,000,000.
    exports = verb == "export_saved_model"
    arguments = [str(tmp_path / "export"), receiver_fn] if exports else [one_batch]
    with pytest.raises(DecodeError) as caught:
        getattr(estimator, verb)(*arguments)
    assert "take 2.0 MB" in str(caught.value)
    assert "t300 (1.2 MB), t200 (0.8 MB), " in str(caught.value)
    assert "from_tensor_slices" in str(caught.value)
