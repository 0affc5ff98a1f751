"""One step with its hooks: all their fetches in one prepared call."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.loops.hooked_step import HookedStep
from estimator_train.engine.loops.prepared_calls import DerivedCalls, PreparedCalls
from estimator_train.engine.loops.step_fetches import StepFetches

tf1 = tf.compat.v1
SessionRunArgs = tf1.train.SessionRunArgs


class Asks(tf1.train.SessionRunHook):
    """Hook that fetches another tensor at each step, and keeps the values."""

    def __init__(self, *arguments, stops_at=None):
        self.arguments, self.stops_at, self.seen = list(arguments), stops_at, []

    def before_run(self, run_context):
        assert isinstance(run_context.session, tf1.Session)
        self.original = run_context.original_args.fetches
        return self.arguments[len(self.seen) % len(self.arguments)]

    def after_run(self, run_context, run_values):
        self.seen.append(run_values)
        if len(self.seen) == self.stops_at:
            run_context.request_stop()


@pytest.fixture
def counter():
    with tf.Graph().as_default(), tf1.Session() as session:
        count = tf1.get_variable("count", [], tf.int64, initializer=tf1.zeros_initializer())
        step = count.assign_add(1)
        session.run(count.initializer)
        yield session, StepFetches(step, step, step, step)


def test_hooks_get_their_fetches_at_each_step(counter):
    session, step = counter
    with tf.control_dependencies([step.loss]):
        one, two = tf.constant(1), tf.constant([2])
    first = Asks(None, SessionRunArgs([one, {"b": two}]), SessionRunArgs("Const:0"))
    second = Asks(SessionRunArgs(step.loss), stops_at=5)
    runner = HookedStep(step, [first, second])
    for n in range(1, 7):
        # Each hook's fetches are of the same call.
        assert runner.run(session) == (n, n, n == 5, None)
    assert [value.results for value in first.seen] == [None, [1, {"b": [2]}], 1] * 2
    assert [value.results for value in second.seen] == [1, 2, 3, 4, 5, 6]
    assert first.original == [step.loss] * 2


def test_feeds_of_hooks_are_merged_and_may_not_collide(counter):
    session, step = counter
    fed = tf1.placeholder_with_default(0, [])
    other = tf1.placeholder_with_default(0, [])
    hooks = [Asks(SessionRunArgs(fed, {fed: 5})), Asks(SessionRunArgs(other, {other: 6}))]
    HookedStep(step, hooks).run(session)
    assert [hook.seen[0].results for hook in hooks] == [5, 6]
    colliding = [Asks(SessionRunArgs(fed, {fed: 5})), Asks(SessionRunArgs(fed, {fed: 5}))]
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks."):
        HookedStep(step, colliding).run(session)


def test_each_hook_gets_a_trace_that_one_of_them_requests(counter):
    session, step = counter
    full = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
    hooks = [Asks(SessionRunArgs(None, options=full), None), Asks(None)]
    runner = HookedStep(step, hooks)
    runner.run(session)
    runner.run(session)
    for hook in hooks:
        assert hook.seen[0].run_metadata.step_stats.dev_stats
        assert not hook.seen[1].run_metadata.step_stats.dev_stats


def test_calls_derive_fetches_from_known_tensors_alone():
    with tf.Graph().as_default(), tf1.Session() as session:
        zeros = tf1.zeros_initializer()
        count = tf1.get_variable("count", [], initializer=zeros, use_resource=True)
        loss, step = count.assign_add(1.0) * 2, count.assign_add(10.0) + 0
        summary = tf1.summary.scalar("loss", loss)
        with tf.control_dependencies([loss]):
            after_loss = tf.constant(1)
        session.run(count.initializer)
        calls = DerivedCalls(session, [loss, step])
        derive = calls.prepare({"hook": [loss, (summary, step + 1)], "other": {"a": summary}})
        values = derive([np.float32(7), np.float32(3)])
        assert values["hook"][0] == 7
        assert values["hook"][1][1] == 4
        assert tf1.Summary.FromString(values["other"]["a"]).value[0].simple_value == 7
        assert calls.prepare([step, loss])([1, 2]) == [2, 1]
        assert calls.prepare({})([1, 2]) == {}
        needs_more = [count.read_value(), after_loss, loss + count, count, loss.op, "mul:0"]
        assert [calls.prepare([loss, fetch]) for fetch in needs_more] == [None] * 6
        assert session.run(count) == 0


def test_prepared_calls_follow_the_session_and_take_any_number_of_fetches():
    with tf.Graph().as_default() as graph:
        constants = [tf.constant(n) for n in range(100)]
        calls = PreparedCalls()
        for _ in range(2):
            with tf1.Session(graph=graph) as session:
                assert [calls.run(session, {"n": c})["n"] for c in constants] == list(range(100))
