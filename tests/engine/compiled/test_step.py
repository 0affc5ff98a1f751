"""Training steps that XLA compiles."""

import concurrent.futures
import logging
import re

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.engine.compiled.step import NotCompilableError
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


def trained(tmp_path, xla, model=model_fn, hooks=(), batches=None, steps=60, **settings):
    config = est.RunConfig(model_dir=str(tmp_path / str(xla)), xla=xla, **settings)
    estimator = est.Estimator(model, config=config)
    estimator.train(lambda: input_fn(batches), steps=steps, hooks=list(hooks))
    return estimator


def operations_run(compiled, config=None):
    """Types of the operations that TensorFlow itself runs in a loop of two steps."""
    with tf.Graph().as_default():
        iterator = tf1.data.make_initializable_iterator(input_fn())
        loss, train_op = dense_step(iterator.get_next())
        loop = build_loop(train_op, loss, compiled=compiled)
        with tf1.Session(config=config) as session:
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


def test_operations_with_a_device_compile():
    """TensorFlow's optimizer would fuse them, which XLA does not compile."""
    with tf.Graph().as_default(), tf1.Session() as session:
        with tf.device("/cpu:0"):
            w = tf1.get_variable("w", [4, 4], initializer=tf1.ones_initializer(), use_resource=True)
            b = tf1.get_variable("b", [4], initializer=tf1.ones_initializer(), use_resource=True)
            hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(tf.ones([2, 4]), w), b))
        loss = tf.reduce_mean(hidden)
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        loop = build_loop(train_op, loss, compiled=True)
        session.run(tf1.global_variables_initializer())
        # A step lowers each of 16 weights by 0.1 / 4, and each bias by as much: the loss by 0.125.
        assert loop.run(session, 3)[1] == pytest.approx(5 - 2 * 0.125)


def test_a_step_compiles_without_the_optimizer_of_graphs():
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    assert "StatefulPartitionedCall" in operations_run(True, config)


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
def test_auto_chooses_the_faster_loop_while_it_trains(tmp_path, caplog):
    config = est.RunConfig(str(tmp_path), xla="auto", tf_random_seed=1)
    estimator = est.Estimator(model_fn, config=config)
    with caplog.at_level(logging.INFO):
        estimator.train(input_fn, steps=20_000)
    said = [record.message for record in caplog.records if "XLA" in record.message]
    assert len(said) == 1
    times = re.fullmatch(
        r"Training runs (with|without) XLA: a step takes ([\d.]+) ms with it, ([\d.]+) without it.",
        said[0],
    )
    found, plain = float(times[2]), float(times[3])
    assert found <= plain if times[1] == "with" else found >= plain
    assert estimator.get_variable_value("global_step") == 20_000


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
        # XLA fails at once; these steps take half a second.
        estimator = trained(tmp_path, "auto", uncompilable_model_fn, batches=10_000, steps=None)
    said = [record for record in caplog.records if "XLA" in record.message]
    assert [record.levelname for record in said] == ["INFO"]
    assert "cannot compile its step: 'loss_as_text' (AsString)." in said[0].message
    assert estimator.get_variable_value("global_step") == 10_000


@pytest.mark.long
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


def test_random_operations_draw_the_same_numbers_in_compiled_steps():
    def draw_losses(compiled):
        with tf.Graph().as_default(), tf1.Session() as session:
            tf1.set_random_seed(5)
            w = tf1.get_variable("w", [4], initializer=tf1.ones_initializer(), use_resource=True)
            dropped = tf.nn.dropout(w, 0.5)
            chosen = tf.cond(w[0] > -100, lambda: tf.random.normal([]), lambda: 0.0)
            loss = tf.reduce_sum(dropped**2) * (chosen + tf.function(tf.random.uniform)([]))
            train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
            loop = build_loop(train_op, loss, compiled=compiled)
            session.run(tf1.global_variables_initializer())
            return [loop.run(session, 1)[1] for _ in range(5)]

    plain, compiled = draw_losses(False), draw_losses(True)
    np.testing.assert_allclose(compiled, plain, rtol=1e-5)
    assert len(set(plain)) == 5


def test_a_drawing_update_that_the_step_only_waits_for_runs_once_a_step():
    def sum_noise(compiled):
        with tf.Graph().as_default(), tf1.Session() as session:
            tf1.set_random_seed(5)
            zeros = tf1.zeros_initializer()
            noise, w = (tf1.get_variable(n, [], initializer=zeros, use_resource=True) for n in "nw")
            tf.function(lambda: noise.assign_add(tf.random.uniform([])))()
            graph = session.graph
            calls = [op for op in graph.get_operations() if op.type == "StatefulPartitionedCall"]
            with tf.control_dependencies(calls):
                train_op = w.assign_add(1.0, read_value=False)
            loop = build_loop(train_op, tf.constant(1.0) * w, compiled=compiled)
            session.run(tf1.global_variables_initializer())
            loop.run(session, 6)
            return session.run([noise, w])

    plain, compiled = sum_noise(False), sum_noise(True)
    np.testing.assert_allclose(compiled, plain, rtol=1e-6)
    assert plain[0] > 0
    assert plain[1] == 6


def test_a_step_that_is_one_drawing_function_is_named():
    with tf.Graph().as_default():
        tf1.set_random_seed(5)
        w = tf1.get_variable("w", [], use_resource=True)
        step = tf.function(lambda: w.assign_add(tf.random.uniform([])).read_value())()
        with pytest.raises(
            NotCompilableError, match=r"\(StatefulPartitionedCall\) draws by a seed"
        ):
            build_loop(step.op, step + 1, compiled=True)


@pytest.mark.parametrize(
    ("shape", "rows", "reason"),
    [
        ([None, None], 1, "'IteratorGetNext:0' has the shape .None, None., and each shape is"),
        ([None, 4], 1, "'dropout/random_uniform/RandomUniform' draws by a seed, and would begin"),
        ([None, 4], 2**25 + 1, "its variables have 512 MiB, and a trial copies them"),
    ],
)
def test_steps_that_only_run_compiled_or_not_are_not_chosen_by_speed(shape, rows, reason):
    with tf.Graph().as_default():
        tf1.set_random_seed(5)
        data = input_fn().map(
            lambda x: tf.ensure_shape(tf1.placeholder_with_default(x, shape), shape)
        )
        features = tf1.data.make_initializable_iterator(data).get_next()
        w = tf1.get_variable("w", [rows, 4], use_resource=True)[:1]
        dropped = features * w if shape[1] is None else tf.nn.dropout(features * w, 0.5)
        loss = tf.reduce_mean(dropped)
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        build_loop(train_op, loss, compiled=True)
        with pytest.raises(NotCompilableError, match=reason):
            build_loop(train_op, loss, compiled="auto")


def test_a_trial_runs_beside_training_steps_and_changes_no_variable():
    with tf.Graph().as_default(), tf1.Session() as session:
        count = tf1.get_variable("count", [], initializer=tf1.zeros_initializer())
        features = tf1.data.make_initializable_iterator(input_fn())
        loss = tf.reduce_mean(features.get_next()) + count
        step = count.assign_add(1.0, read_value=False)
        plain, compiled = (build_loop(step, loss, compiled=value) for value in (False, True))
        session.run([tf1.global_variables_initializer(), features.initializer])
        with concurrent.futures.ThreadPoolExecutor() as threads:
            trial = threads.submit(compiled.trial.run, session, 8)
            done = [plain.run(session, 50)[0]]
            while not trial.done():
                done.append(plain.run(session, 50)[0])
            trial.result()
        assert session.run(count) == sum(done)
        compiled.run(session, 1)
        assert session.run(count) == sum(done) + 1


def test_without_loops_a_warning_says_that_xla_compiles_nothing(tmp_path, caplog):
    trained(tmp_path, True, steps_per_loop=1)
    assert "XLA compiles nothing: training runs one step per session call." in caplog.text


@pytest.mark.parametrize("value", ["yes", 1.5, 2])
def test_a_bad_setting_is_named(value):
    with pytest.raises(ValueError, match=f"xla should be True, False or 'auto', got {value!r}"):
        est.RunConfig(xla=value)
