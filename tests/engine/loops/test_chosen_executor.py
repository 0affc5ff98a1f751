"""What a loop of steps leaves out, and which threads run it."""

import collections
import sys

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.loops import graph_loop, prepared_calls, sub_graph
from estimator_train.engine.loops.prepared_calls import ChosenExecutor
from estimator_train.engine.loops.sub_graph import find_sub_graph
from estimator_train.engine.tf_internals import tf_hooks

v1 = tf.compat.v1


@pytest.fixture
def counted():
    """Provides a session with a counter, and a loop that adds ten to the counter."""
    with tf.Graph().as_default(), v1.Session() as session:
        count = v1.get_variable("count", [], use_resource=True, initializer=tf.zeros_initializer())
        noise = tf.random.uniform([], seed=7)
        loop = graph_loop.build_loop(count.assign_add(1.0).op, noise)
        session.run(v1.global_variables_initializer())
        loop.set_steps(session, 10)
        yield session, loop, count


def test_both_executors_are_measured_and_the_faster_one_is_used(counted, monkeypatch):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 0)
    monkeypatch.setattr(prepared_calls, "_SHORT_STEP_SECS", 1e9)
    monkeypatch.setattr(prepared_calls, "_CHANGE_FACTOR", 1e9)
    session, loop, count = counted
    chosen = ChosenExecutor(loop.outcome)
    used = []
    for _ in range(20):
        chosen.run(session, 10)
        used.append(chosen._current is chosen._here)
    assert session.run(count) == 200
    assert used[:3] == [False] * 3  # The first call, which prepares it, is not measured.
    assert used[3:7] == [True] * 4
    assert chosen._current in (chosen._pool, chosen._here)
    assert all(executor.best > 0 for executor in (chosen._pool, chosen._here))
    assert used[7:] == [chosen._current is chosen._here] * 13


@pytest.mark.parametrize("quicker", ["pool", "here"])
def test_the_choice_follows_the_times_and_is_made_again_when_they_change(
    counted, monkeypatch, quicker
):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 0)
    session, loop, _ = counted
    chosen = ChosenExecutor(loop.outcome)
    chosen._begin(session)
    chosen._here = chosen._in_this_thread()
    secs = {"pool": 1e-4, "here": 1e-4, quicker: 5e-5}

    def run(executor, steps):
        name = "pool" if executor is chosen._pool else "here"
        executor.secs = [*executor.secs, secs[name]][-3:]

    monkeypatch.setattr(prepared_calls.TimedCall, "run", run)
    for _ in range(8):
        chosen.run(session, 1)
    assert chosen._current is getattr(chosen, f"_{quicker}")
    other = "here" if quicker == "pool" else "pool"
    secs[quicker] = 1e-3
    for _ in range(12):
        chosen.run(session, 1)
    assert chosen._current is getattr(chosen, f"_{other}")


def test_long_steps_stay_with_the_pool_of_threads(counted, monkeypatch):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    monkeypatch.setattr(prepared_calls, "_SHORT_STEP_SECS", 0.0)
    session, loop, _ = counted
    chosen = ChosenExecutor(loop.outcome)
    for _ in range(10):
        chosen.run(session, 10)
    assert chosen._here is None


@pytest.mark.parametrize("are_short", [True, False])
def test_short_steps_wait_for_their_number_before_a_trial_and_long_ones_need_none(
    counted, monkeypatch, are_short
):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 10**9)
    monkeypatch.setattr(prepared_calls, "_CHANGE_FACTOR", 1e9)
    monkeypatch.setattr(prepared_calls, "_SHORT_STEP_SECS", 1e9 if are_short else 0.0)
    session, loop, _ = counted
    chosen = ChosenExecutor(loop.outcome)
    for _ in range(10):
        chosen.run(session, 10)
    assert chosen._here is None
    assert chosen.is_settled != are_short


def test_a_trial_that_is_slower_ends_after_its_calls(counted, monkeypatch):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 10)
    session, loop, _ = counted
    chosen = ChosenExecutor(loop.outcome)
    chosen._begin(session)
    chosen._here = chosen._in_this_thread()
    chosen._total = 11e-4

    def run(executor, steps):
        secs = 1e-4 if executor is chosen._pool else 15e-4
        executor.secs = [*executor.secs, secs][-3:]

    monkeypatch.setattr(prepared_calls.TimedCall, "run", run)
    used = []
    for _ in range(8):
        chosen.run(session, 1)
        used.append(chosen._current is chosen._here)
    assert used == [False, False, True, True, True, False, False, False]


def test_the_calling_thread_runs_a_compiled_loop_from_the_first_call(monkeypatch):
    monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", 0.0)
    with tf.Graph().as_default(), v1.Session() as session:
        count = v1.get_variable("count", [], use_resource=True, initializer=tf.zeros_initializer())
        loop = graph_loop.build_loop(count.assign_add(1.0).op, tf.ones([]), compiled=True)
        session.run(v1.global_variables_initializer())
        for _ in range(10):
            assert loop.run(session, 7)[0] == 7
            assert loop._calls._current is loop._calls._here
        assert session.run(count) == 70


def test_both_executors_train_the_same_values(model_fn, input_fn, tmp_path, monkeypatch):
    def noisy(features, labels, mode):
        features = {"x": features["x"] + tf.random.normal([3], seed=2)}
        return model_fn(features, labels, mode)

    found = []
    for number, secs in enumerate((1e9, 0.0)):
        monkeypatch.setattr(prepared_calls, "_SECS_BEFORE_TRIAL", secs)
        monkeypatch.setattr(prepared_calls, "_STEPS_BEFORE_TRIAL", 0)
        config = est.RunConfig(f"{tmp_path}/{number}", tf_random_seed=1, steps_per_loop=10)
        estimator = est.Estimator(noisy, config=config).train(input_fn, steps=200)
        found.append(estimator.get_variable_value("w"))
    np.testing.assert_array_equal(*found)


def test_a_loop_has_no_gradients_that_nothing_needs_and_no_reads_for_hooks():
    with tf.Graph().as_default() as graph:
        step = v1.train.create_global_step()
        x = tf.random.normal([4, 3], seed=1)
        w = v1.get_variable("w", [3, 2], use_resource=True)
        b = v1.get_variable("b", [2], use_resource=True)
        checked = tf.debugging.check_numerics(x, "x")
        with tf.control_dependencies([checked]):
            loss = tf.reduce_sum(tf.matmul(x, w, name="first") + b)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        read = tf_hooks.read_step_before_increment(step, train_op)
        names = [
            {op.name for op in find_sub_graph(train_op, [loss], excluded).needed}
            for excluded in ((), (read.op,))
        ]
        gradients = [op for op in graph.get_operations() if op.type == "MatMul"]
    by_weights = {op.name for op in gradients if op.name != "first"} & names[0]
    assert len(gradients) == 3
    assert len(by_weights) == 1
    assert checked.op.name in names[1]
    assert read.op.name in names[0] - names[1]


def test_updates_that_all_gradients_wait_for_are_examined_once():
    """Programs with batch normalization compute their gradients after all moving averages."""
    with tf.Graph().as_default() as graph:
        x = tf.random.normal([4, 3], seed=1)
        averages = [v1.get_variable(f"average{n}", [], use_resource=True) for n in range(200)]
        for n in range(50):
            x = tf.matmul(x, v1.get_variable(f"w{n}", [3, 3], use_resource=True), name=f"layer{n}")
        with tf.control_dependencies([v.assign_add(1.0).op for v in averages]):
            train_op = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x))
        operations = graph.get_operations()
        calls = []

        def record(frame, event, argument):
            name = frame.f_code.co_name
            is_ours = frame.f_code.co_filename == sub_graph.__file__
            if event == "call" and is_ours and not name.startswith("<"):
                calls.append(name)

        sys.setprofile(record)
        try:
            needed = find_sub_graph(train_op, []).needed
        finally:
            sys.setprofile(None)
        waits = [
            len(op.control_inputs) for op in operations if op.name.endswith("tuple/group_deps")
        ]
    assert sum(op.type == "AssignAddVariableOp" for op in needed) == 200
    assert len(waits) == 50
    assert min(waits) > 200
    assert len(needed) < len(calls) < 10 * len(needed), collections.Counter(calls)
