"""Chunks of compiled steps train on the same batches, in the same order, as single steps."""

import contextlib
import json

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.compiled.step import NotCompilableError
from estimator_train.engine.inputs.chunks import make_chunks
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.loops.graph_loop import build_loop
from estimator_train.engine.loops.step_runner import HookedStep
from estimator_train.engine.types import StepFetches
from estimator_train.launcher.network import find_free_addresses

tf1 = tf.compat.v1
CHUNK = 32


def input_fn():
    rows = np.random.RandomState(0).rand(100, 4).astype(np.float32)
    return (
        tf.data.Dataset.from_tensor_slices(rows).shuffle(30, seed=4).repeat().batch(8).prefetch(2)
    )


def finite_input_fn():
    return input_fn().take(1000)


def record(name, value):
    """Returns an operation that stores the value of each step, also of those in a loop."""
    values = tf1.get_variable(name, [200], value.dtype, tf1.zeros_initializer(), trainable=False)
    return tf1.scatter_update(values, tf1.train.get_or_create_global_step(), value).op


def make_step(features, change_loss=lambda loss, step: loss):
    step = tf1.train.get_or_create_global_step()
    w = tf1.get_variable("w", [4, 8], initializer=tf1.glorot_uniform_initializer(seed=3))
    values = tf.reduce_sum(tf.matmul(features, w), 1)
    loss = tf.reduce_mean((values - tf.reduce_sum(features, 1)) ** 2)
    loss = change_loss(loss, tf1.train.get_or_create_global_step().read_value())
    with tf.control_dependencies([record("losses", loss), record("firsts", features[0, 0])]):
        return loss, tf1.train.AdamOptimizer(0.01).minimize(loss, step)


def model_fn(features, mode):
    loss, train_op = make_step(features)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


class SeventhStepHook(tf1.train.SessionRunHook):
    """Hook that sees every seventh step, and the position in the chunk at the end."""

    def __init__(self):
        self.seen, self.loops, self.position = [], [], None

    def begin(self):
        self.step = tf1.train.get_global_step()
        names = {op.name for op in tf1.get_default_graph().get_operations()}
        self.reads_position = "chunks/position" in names

    def steps_until_due(self, global_step):
        return 7 - global_step % 7

    def after_loop(self, steps, loss):
        self.loops.append((steps, float(loss)))

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs("IteratorGetNext:0")

    def after_run(self, run_context, run_values):
        # A fetch would read the variable before or after the step increases it.
        step = int(run_context.session.run(self.step))
        self.seen.append((step, run_values.results.tolist()))

    def end(self, session):
        if self.reads_position:
            with contextlib.suppress(tf.errors.FailedPreconditionError):
                self.position = int(session.run("chunks/position/Read/ReadVariableOp:0"))


def train(model_dir, xla, steps=50, hooks=(), data=input_fn, model=model_fn, **settings):
    config = est.RunConfig(str(model_dir), tf_random_seed=1, xla=xla, **settings)
    estimator = est.Estimator(model, config=config)
    estimator.train(data, steps=steps, hooks=list(hooks))
    return estimator


def read_values(estimator):
    return [estimator.get_variable_value(name) for name in ("losses", "firsts", "w", "w/Adam_1")]


@contextlib.contextmanager
def open_step(**arguments):
    """Yields a session, the loop of a step over chunks, and the tensors of the uncompiled step.

    The train_op of the uncompiled step fails.
    """
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(1)
        iterator = tf1.data.make_initializable_iterator(input_fn())
        inputs = Inputs(iterator.get_next(), None, iterator, iterator.initializer)
        loss, train_op = make_step(inputs.features, **arguments)
        step_read = tf1.train.get_global_step().read_value()
        step = StepFetches(
            tf.debugging.Assert(False, ["the uncompiled step ran"]),
            loss,
            step_read,
            step_read + 1,
            tf.shape(inputs.features)[0],
        )
        tf1.summary.scalar("loss", loss)
        chunks = make_chunks(inputs)
        loop = build_loop(train_op, loss, compiled=True, chunks=chunks)
        initializer = tf1.global_variables_initializer()
        graph.finalize()
        with tf1.Session() as session:
            session.run(initializer)
            session.run(chunks.start)
            yield session, loop, step


@contextlib.contextmanager
def open_loop(**arguments):
    """Yields a session and the loop of a step over chunks."""
    with open_step(**arguments) as (session, loop, _):
        yield session, loop


@pytest.mark.long
def test_steps_in_chunks_and_steps_that_hooks_see_share_the_order_of_the_input(tmp_path):
    hooks = SeventhStepHook(), SeventhStepHook()
    plain, chunked = (
        train(tmp_path / str(xla), xla, hooks=[hook])
        for xla, hook in zip((False, True), hooks, strict=True)
    )
    assert hooks[0].position is None
    assert hooks[1].position == 50 - CHUNK
    assert hooks[1].seen == hooks[0].seen
    assert max(steps for steps, _ in hooks[1].loops) == 6
    # A second training starts the input again.
    plain.train(input_fn, steps=40, hooks=[hooks[0]])
    chunked.train(input_fn, steps=40, hooks=[hooks[1]])
    assert hooks[1].position == 40 - CHUNK
    assert hooks[1].seen == hooks[0].seen
    assert chunked.get_variable_value("global_step") == 90
    for actual, expected in zip(read_values(chunked), read_values(plain), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-6)


def test_a_loop_ends_within_a_chunk_and_the_next_continues_there():
    plain = read_first_values(150)
    with open_loop() as (session, loop):
        for steps in (5, 1, 40, 64, 30, 10):
            done, loss, has_more = loop.run(session, steps)
            assert (done, has_more) == (steps, True)
            step = session.run("global_step/Read/ReadVariableOp:0")
            assert loss == session.run("losses/Read/ReadVariableOp:0")[step - 1]
        np.testing.assert_array_equal(session.run("firsts/Read/ReadVariableOp:0")[:150], plain)


class AskHook(tf1.train.SessionRunHook):
    """Hook that fetches the same tensors at each step, and keeps their values."""

    def __init__(self, fetches):
        self.fetches, self.seen = fetches, []

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self.fetches)

    def after_run(self, run_context, run_values):
        self.seen.append(run_values.results)


def test_a_compiled_step_runs_if_hooks_fetch_only_its_loss_and_step():
    with open_step() as (session, loop, step):
        [summary] = session.graph.get_collection(tf1.GraphKeys.SUMMARIES)
        hook = AskHook([step.loss, step.step_read, step.step_after, step.batch_size, summary])
        runner = HookedStep(step, [hook])
        loop.run(session, 31)
        results = [runner.run(session, loop) for _ in range(3)]
        losses = session.run("losses/Read/ReadVariableOp:0")[31:34]
        # The size of the batch is known, and not computed again.
        assert results == [(loss, 31 + n, 32 + n, False, None) for n, loss in enumerate(losses)]
        for n, (*numbers, written) in enumerate(hook.seen):
            assert numbers == [losses[n], 31 + n, 32 + n, 8]
            assert tf1.Summary.FromString(written).value[0].simple_value == losses[n]
        with pytest.raises(tf.errors.InvalidArgumentError, match="the uncompiled step ran"):
            HookedStep(step, [AskHook("IteratorGetNext:0")]).run(session, loop)


def read_first_values(count):
    with tf.Graph().as_default(), tf1.Session() as session:
        tf1.set_random_seed(1)
        iterator = tf1.data.make_initializable_iterator(input_fn())
        first = iterator.get_next()[0, 0]
        session.run(iterator.initializer)
        return [session.run(first) for _ in range(count)]


def test_xla_runs_the_steps_of_a_chunk_in_one_call():
    with open_loop() as (session, loop):
        loop.run(session, 10)
        loop.set_steps(session, 54)
        metadata = tf1.RunMetadata()
        options = tf1.RunOptions(trace_level=tf1.RunOptions.SOFTWARE_TRACE)
        session.run(loop.outcome, options=options, run_metadata=metadata)
    nodes = [node for device in metadata.step_stats.dev_stats for node in device.node_stats]
    kinds = [node.timeline_label.partition(" = ")[2].partition("(")[0] for node in nodes]
    # The rest of a chunk, and a complete one.
    assert kinds.count("StatefulPartitionedCall") == 2
    assert kinds.count("IteratorGetNext") == 1
    assert not {"ResourceApplyAdam", "MatMul"} & set(kinds)


def test_a_loop_ends_after_the_step_whose_loss_is_not_finite():
    def break_step_20(loss, step):
        return loss + tf.where(tf.equal(step, 20), np.float32("nan"), 0.0)

    with open_loop(change_loss=break_step_20) as (session, loop):
        done, loss, _ = loop.run(session, 30)
        assert done == 21
        assert np.isnan(loss)
        assert session.run("global_step/Read/ReadVariableOp:0") == 21
        done, loss, _ = loop.run(session, 30)  # The weights did not change to NaN.
        assert done == 30
        assert np.isfinite(loss)
        firsts = session.run("firsts/Read/ReadVariableOp:0")
    np.testing.assert_array_equal(firsts[:51], read_first_values(51))
    assert not firsts[51:].any()


def test_training_fails_at_a_loss_that_is_not_finite_within_a_chunk(tmp_path):
    def nan_model_fn(features, mode):
        loss, train_op = make_step(
            features, lambda loss, step: tf.where(tf.equal(step, 20), np.float32("nan"), loss)
        )
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    hook = SeventhStepHook()
    hook.steps_until_due = lambda global_step: None
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        train(tmp_path, True, model=nan_model_fn, hooks=[hook])
    assert sum(steps for steps, _ in hook.loops) + len(hook.seen) == 21


def test_steps_with_random_operations_run_one_by_one():
    def drop(loss, step):
        return loss * 0 + tf.reduce_sum(tf.nn.dropout(tf.ones([1000]), 0.5))

    with (
        pytest.raises(NotCompilableError, match="its input is not that of the batches alone"),
        open_loop(change_loss=drop),
    ):
        pass


def with_text(features, mode):
    loss, train_op = make_step(features)
    number = tf.strings.to_number(tf.strings.as_string(loss))
    return est.EstimatorSpec(mode, loss=loss + 0 * number, train_op=train_op)


def with_time(features, mode):
    loss, train_op = make_step(features)
    now = tf.cast(tf.timestamp(), tf.float32)
    return est.EstimatorSpec(mode, loss=loss + 0 * now, train_op=train_op)


@pytest.mark.parametrize(
    "settings",
    tiers.every(
        2,
        [
            {"data": finite_input_fn},
            {"save_input_position": True},
            {"train_distribute": tf.distribute.OneDeviceStrategy("/cpu:0")},
            {"model": with_time},
            {"steps_per_loop": 1},
        ],
    ),
    ids=lambda settings: next(iter(settings)),
)
def test_trainings_that_cannot_run_chunks_train_without_them(tmp_path, settings):
    hook = SeventhStepHook()
    estimator = train(tmp_path, "auto", hooks=[hook], **settings)
    assert hook.position is None
    assert [step for step, _ in hook.seen][-1] == 50
    assert estimator.get_variable_value("global_step") == 50
    firsts = estimator.get_variable_value("firsts")
    np.testing.assert_array_equal(firsts[:50], read_first_values(50))


def test_a_step_that_xla_cannot_compile_reads_its_batches_from_the_chunks(tmp_path):
    hook = SeventhStepHook()
    estimator = train(tmp_path, "auto", hooks=[hook], model=with_text)
    assert hook.position == 50 - CHUNK
    firsts = estimator.get_variable_value("firsts")
    np.testing.assert_array_equal(firsts[:50], read_first_values(50))


def test_a_training_with_a_parameter_server_has_no_chunks(tmp_path, monkeypatch):
    chief, ps = find_free_addresses(2)
    cluster = {"chief": [chief], "ps": [ps]}
    tf.distribute.Server(cluster, job_name="ps", task_index=0)
    task = {"cluster": cluster, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    hook = SeventhStepHook()
    estimator = train(tmp_path, "auto", hooks=[hook], steps_per_loop=20)
    assert hook.loops
    assert hook.position is None
    firsts = estimator.get_variable_value("firsts")
    np.testing.assert_array_equal(firsts[:50], read_first_values(50))
