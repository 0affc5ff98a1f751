"""Training steps that XLA compiles."""

import logging

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.engine.loops.graph_loop import build_loop

tf1 = tf.compat.v1


def dense_step(features):
    w = tf1.get_variable("w", [4, 8], initializer=tf1.glorot_uniform_initializer(seed=3))
    v = tf1.get_variable("v", [8, 1], initializer=tf1.glorot_uniform_initializer(seed=4))
    hidden = tf.nn.relu(tf.matmul(features, w))
    loss = tf.reduce_mean((tf.matmul(hidden, v) - tf.reduce_sum(features, 1, True)) ** 2)
    optimizer = tf1.train.AdamOptimizer(0.01)
    return loss, optimizer.minimize(loss, tf1.train.get_or_create_global_step())


def model_fn(features, mode):
    loss, train_op = dense_step(features)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def uncompilable_model_fn(features, mode):
    loss, train_op = dense_step(features)
    text = tf.strings.as_string(loss, name="loss_as_text")
    return est.EstimatorSpec(mode, loss=loss + 0 * tf.strings.to_number(text), train_op=train_op)


def input_fn(batches=None):
    rows = np.random.RandomState(0).rand(64, 4).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(8).take(batches or -1)


def trained(tmp_path, xla, model=model_fn, hooks=(), batches=None, **settings):
    config = est.RunConfig(model_dir=str(tmp_path / str(xla)), xla=xla, **settings)
    estimator = est.Estimator(model, config=config)
    estimator.train(lambda: input_fn(batches), steps=60, hooks=list(hooks))
    return estimator


def operations_run(compiled):
    """Types of the operations that TensorFlow itself runs in a loop of two steps."""
    with tf.Graph().as_default():
        iterator = tf1.data.make_initializable_iterator(input_fn())
        loss, train_op = dense_step(iterator.get_next())
        loop = build_loop(train_op, loss, compiled=compiled)
        with tf1.Session() as session:
            session.run([tf1.global_variables_initializer(), iterator.initializer])
            loop.run(session, 2)
            metadata = tf1.RunMetadata()
            options = tf1.RunOptions(trace_level=tf1.RunOptions.SOFTWARE_TRACE)
            loop.set_steps(session, 2)
            session.run(loop.outcome, options=options, run_metadata=metadata)
    return {
        node.timeline_label.partition(" = ")[2].partition("(")[0]
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
    }


def test_the_whole_step_is_one_compiled_call():
    plain, compiled = operations_run(False), operations_run(True)
    assert "ResourceApplyAdam" in plain
    assert any("MatMul" in name for name in plain)
    assert "ResourceApplyAdam" not in compiled
    assert not any("MatMul" in name for name in compiled)
    assert {"IteratorGetNext", "StatefulPartitionedCall"} <= compiled


@pytest.mark.long
def test_compiled_steps_train_the_same(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        plain, compiled, auto = (trained(tmp_path, xla) for xla in (False, True, "auto"))
    assert "XLA" not in caplog.text
    for name in ("w", "v", "w/Adam"):
        expected = plain.get_variable_value(name)
        for estimator in (compiled, auto):
            np.testing.assert_allclose(estimator.get_variable_value(name), expected, rtol=1e-4)
    assert compiled.get_variable_value("global_step") == 60


@pytest.mark.long
def test_the_end_of_input_falls_on_the_same_step(tmp_path):
    assert trained(tmp_path, True, batches=37).get_variable_value("global_step") == 37


def test_an_operation_that_xla_does_not_know_is_named(tmp_path):
    with pytest.raises(
        ValueError, match=r"XLA cannot compile the training step: 'loss_as_text' \(AsString\)"
    ):
        trained(tmp_path, True, uncompilable_model_fn)


def test_auto_trains_without_xla_where_it_cannot_be_compiled(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        estimator = trained(tmp_path, "auto", uncompilable_model_fn, batches=23)
    said = [record for record in caplog.records if "XLA" in record.message]
    assert [record.levelname for record in said] == ["INFO"]
    assert "cannot compile its step: 'loss_as_text' (AsString)." in said[0].message
    assert estimator.get_variable_value("global_step") == 23


def test_a_step_whose_compilation_fails_is_named_and_auto_trains_without_xla(tmp_path):
    def recurrent(features, mode):
        layer = tf_keras.layers.SimpleRNN(3)
        loss = tf.reduce_mean(layer(features[:, :, None]) ** 2)
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(
            loss, tf1.train.get_global_step(), var_list=layer.trainable_variables
        )
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(
        ValueError, match=r"'.*while/EmptyTensorList\w*' \(.*requires a fixed tensor list size\)"
    ):
        trained(tmp_path, True, recurrent)
    assert trained(tmp_path, "auto", recurrent).get_variable_value("global_step") == 60


def test_steps_on_several_devices_are_not_compiled():
    def over(device):
        with tf.device(device):
            return tf.matmul(tf1.get_variable("w" + device[-1], [2, 2]), tf.ones([2, 2]))

    with tf.Graph().as_default():
        loss = tf.reduce_sum(over("/cpu:0") + over("/cpu:1"))
        with pytest.raises(
            Exception, match="it compiles for one device, and the step uses several"
        ):
            build_loop(loss.op, loss, compiled=True)


def test_strings_and_tables_in_a_step_are_named():
    with tf.Graph().as_default():
        words = tf.data.Dataset.from_tensors(tf.constant(["a"])).repeat()
        iterator = tf1.data.make_initializable_iterator(words)
        loss = tf.reduce_sum(tf.strings.to_number(iterator.get_next()))
        with pytest.raises(Exception, match=r"'IteratorGetNext' \(IteratorGetNext\) gives strings"):
            build_loop(loss.op, loss, compiled=True)
    with tf.Graph().as_default():
        values = tf.lookup.KeyValueTensorInitializer(tf.constant([1]), tf.constant([2.0]))
        loss = tf.lookup.StaticHashTable(values, 0.0).lookup(tf.constant(1))
        with pytest.raises(Exception, match=r"'hash_table' \(HashTableV2\)"):
            build_loop(loss.op, loss, compiled=True)


def test_without_loops_a_warning_says_that_xla_compiles_nothing(tmp_path, caplog):
    trained(tmp_path, True, steps_per_loop=1)
    assert "XLA compiles nothing: training runs one step per session call." in caplog.text


@pytest.mark.parametrize("value", ["yes", 1.5, 2])
def test_a_bad_setting_is_named(value):
    with pytest.raises(ValueError, match=f"xla should be True, False or 'auto', got {value!r}"):
        est.RunConfig(xla=value)
