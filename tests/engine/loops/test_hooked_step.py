"""One step with its hooks: all their fetches in one prepared call."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.loops import prepared_calls
from estimator_train.engine.loops.prepared_calls import DerivedCalls, PreparedCalls
from estimator_train.engine.loops.step_runner import HookedStep
from estimator_train.engine.tf_internals import sessions
from estimator_train.engine.types import StepFetches

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
        assert runner.run(session) == (n, n, n, n == 5, None)
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


@pytest.fixture
def prepared(monkeypatch):
    """The fetches of all calls that sessions prepare, in graphs that do not count as small."""
    fetches, prepare = [], sessions.prepare_run
    monkeypatch.setattr(prepared_calls, "_MIN_OPERATIONS_OF_WIDER", 0)
    monkeypatch.setattr(
        sessions, "prepare_run", lambda session, f: (fetches.append(f), prepare(session, f))[1]
    )
    return fetches


def test_some_steps_run_by_a_call_of_more_fetches(counter, prepared):
    session, step = counter
    summary = tf1.summary.scalar("step", tf.cast(step.loss, tf.float32))
    first = {"step": [step.train_op, step.loss.op], "hook": {"summary": summary}}
    others = {"step": [step.train_op, step.loss.op], "read": []}
    calls = PreparedCalls()
    assert calls.run(session, first)["step"] == [1, None]
    for n in range(2, 12):
        assert calls.run(session, others) == {"step": [n, None], "read": []}
        assert prepared == ([first] if n < 10 else [first, others])
    summary = tf1.Summary.FromString(calls.run(session, first)["hook"]["summary"])
    assert summary.value[0].simple_value == 12


def test_a_call_of_more_fetches_runs_no_steps_if_they_have_effects(counter, prepared):
    session, step = counter
    other = tf1.get_variable("other", [], initializer=tf1.zeros_initializer())
    session.run(other.initializer)
    sparse = tf.SparseTensor([[0]], [1.0], [1])
    for fetch in (other.assign_add(1.0), tf.random.uniform([]), sparse, other.initializer):
        calls = PreparedCalls()
        calls.run(session, [step.train_op, fetch])
        calls.run(session, [step.train_op])
        assert prepared[-1] == [step.train_op]
    calls.run(session, [other.assign_add(1.0)])
    assert session.run(other) == 1


def test_a_call_with_pictures_runs_no_steps_without_them(counter, prepared):
    session, step = counter
    pictures = tf1.summary.image("pictures", tf.zeros([1, 2, 2, 1]))
    calls = PreparedCalls()
    calls.run(session, [step.train_op, pictures])
    assert calls.run(session, [step.train_op]) == [2]
    assert prepared == [[step.train_op, pictures], [step.train_op]]


def test_a_step_without_histograms_trains_on_with_nan(counter, prepared):
    session, step = counter
    loss = tf.cast(step.loss, tf.float32)
    histogram = tf1.summary.histogram("step", tf.where(loss > 1.0, float("nan"), loss))
    calls = PreparedCalls()
    calls.run(session, [step.train_op, histogram])
    assert calls.run(session, [step.train_op]) == [2]


def test_a_small_graph_and_unknown_fetches_run_by_calls_of_their_own(
    counter, prepared, monkeypatch
):
    session, step = counter
    calls = PreparedCalls()
    calls.run(session, [step.train_op])
    with tf.control_dependencies([step.train_op]):
        after = tf.constant(1)
    calls.run(session, [step.train_op, after])
    assert len(prepared) == 2
    monkeypatch.setattr(prepared_calls, "_MIN_OPERATIONS_OF_WIDER", 10**6)
    small = PreparedCalls()
    small.run(session, [step.train_op, after])
    small.run(session, [step.train_op])
    assert len(prepared) == 4
