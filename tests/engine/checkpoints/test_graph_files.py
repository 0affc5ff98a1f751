"""The files of a graph that a training writes: `.meta` of each checkpoint, and `graph.pbtxt`.

Also the graph in the event file.
"""

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

import estimator_train as est
from estimator_train.engine.checkpoints import async_saver

v1 = tf.compat.v1


class CountingSaver(v1.train.Saver):
    exports = 0

    def export_meta_graph(self, *args, **kwargs):
        self.exports += 1
        return super().export_meta_graph(*args, **kwargs)


def nodes_in_meta(content):
    return {node.name for node in v1.MetaGraphDef.FromString(content).graph_def.node}


def test_meta_graphs_are_exported_again_only_after_a_change():
    with tf.Graph().as_default() as graph:
        v1.get_variable("a", [2])
        saver = CountingSaver()
        files = async_saver.GraphFiles()
        found = [nodes_in_meta(files.serialize_meta(saver, graph)) for _ in range(2)]
        assert saver.exports == 1
        tf.constant(1, name="added")
        found.append(nodes_in_meta(files.serialize_meta(saver, graph)))
    assert saver.exports == 2
    assert "a" in found[0]
    assert found[0] == found[1] == found[2] - {"added"} != found[2]


def test_the_text_of_a_graph_is_that_graph(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([0.1, np.nan, -np.inf], name="numbers")
        tf.constant([b"\x00\xff\n", '"\\é'.encode()], name="strings")
        async_saver.GraphFiles().write_text(graph, str(tmp_path / "new"))
    text = (tmp_path / "new" / "graph.pbtxt").read_text(encoding="utf-8")
    read = text_format.Parse(text, v1.GraphDef())
    assert read == graph.as_graph_def(add_shapes=True)


def test_a_str_of_messages_that_cannot_be_parsed_is_not_used(monkeypatch):
    parse = text_format.Parse
    for name in ("numbers", "strings"):

        def refuse(text, message, name=name):
            if f'"{name}"' in text:
                raise text_format.ParseError(name)
            return parse(text, message)

        monkeypatch.setattr(text_format, "Parse", refuse)
        assert not async_saver._prints_text.__wrapped__()


def test_a_training_writes_its_graph_as_text(model_fn, input_fn, tmp_path):
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=1)
    text = (tmp_path / "graph.pbtxt").read_text(encoding="utf-8")
    nodes = {node.name for node in text_format.Parse(text, v1.GraphDef()).node}
    assert {"global_step", "w"} <= nodes


def test_a_training_writes_its_complete_graph_once_to_the_event_file(tmp_path):
    graphs = []

    def model_fn(features, labels, mode):
        graphs.append(tf.compat.v1.get_default_graph())
        weight = v1.get_variable("w", [])
        loss = tf.reduce_mean(tf.square(weight * features - labels))
        step = v1.train.get_global_step()
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    estimator = est.Estimator(model_fn, tmp_path)
    estimator.train(lambda: tf.data.Dataset.from_tensors((1.0, 2.0)).repeat(), steps=2)
    (file,) = tmp_path.glob("events*")
    found = {"graph_def": [], "meta_graph_def": []}
    for event in v1.train.summary_iterator(str(file)):
        kind = event.WhichOneof("what")
        if kind in found:
            found[kind].append(getattr(event, kind))
    assert [*map(len, found.values())] == [1, 1]
    (content,) = found["graph_def"]
    assert {node.name for node in v1.GraphDef.FromString(content).node} == {
        operation.name for operation in graphs[0].get_operations()
    }
