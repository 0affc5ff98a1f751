"""StepBreakdown in trainings with one known slow part.

These tests cover `run/standard_hooks.py`.
"""

import itertools
import time

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.hooks import StepBreakdown
from estimator_train.hooks.step_breakdown import read_trace

tf1 = tf.compat.v1


def heavy(x, times):
    """Returns matrix products that take some milliseconds in TensorFlow."""
    matrix = tf.eye(200) + 1e-9 * tf.reduce_sum(x)

    def product(i, a):
        return i + 1, tf.matmul(a, matrix)

    return tf.reduce_sum(tf.while_loop(lambda i, a: i < times, product, (0, matrix))[1]) / 200


def train(
    tmp_path,
    *,
    slow_input=0,
    slow_model=0,
    steps=60,
    hooks=(),
    steps_per_loop="auto",
    every_n_steps=20,
    clock=time.perf_counter,
):
    def input_fn():
        dataset = tf.data.Dataset.from_tensors(np.ones([8, 4], np.float32)).repeat()
        if slow_input:
            dataset = dataset.map(lambda x: x + 1e-9 * heavy(x, slow_input))
        return dataset

    def model_fn(features, mode):
        w = tf1.get_variable("w", [4, 1], initializer=tf1.zeros_initializer())
        loss = tf.reduce_mean((tf.matmul(features, w) - 1) ** 2)
        if slow_model:
            loss *= heavy(features, slow_model)
        optimizer = tf1.train.GradientDescentOptimizer(0.01)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    breakdown = StepBreakdown(every_n_steps, clock)
    config = est.RunConfig(model_dir=str(tmp_path), steps_per_loop=steps_per_loop)
    estimator = est.Estimator(model_fn, config=config)
    estimator.train(input_fn, steps=steps, hooks=[breakdown, *hooks])
    return breakdown


@pytest.mark.parametrize("steps_per_loop", tiers.first({"auto"}, ["auto", 1]))
def test_a_slow_input_is_found(tmp_path, steps_per_loop):
    breakdown = train(tmp_path, slow_input=100, steps_per_loop=steps_per_loop)
    split = breakdown.split
    assert split["input"] > 0.5 * sum(split.values())
    share = split["input"] / sum(split.values())
    assert breakdown.report().startswith(f"input-bound: {share:.0%} of each step waits for data (")


@pytest.mark.long
@pytest.mark.parametrize("steps_per_loop", tiers.first({1}, ["auto", 1]))
def test_a_heavy_model_is_found(tmp_path, steps_per_loop):
    # Among the calls are many traces: other programs may take the cores for a part of the time.
    breakdown = train(tmp_path, slow_model=100, steps_per_loop=steps_per_loop, every_n_steps=4)
    split = breakdown.split
    assert split["device"] > 0.5 * sum(split.values())
    assert breakdown.report().startswith("compute-bound: ")


class Slow(est.SessionRunHook):
    seconds = 0.0

    def after_run(self, run_context, run_values):
        start = time.perf_counter()
        while time.perf_counter() < start + 0.02:
            pass
        self.seconds += time.perf_counter() - start


def test_a_slow_hook_is_found_and_its_time_is_correct(tmp_path):
    slow = Slow()
    breakdown = train(tmp_path, hooks=[slow])
    split = breakdown.split
    assert split["hooks"] == max(split.values())
    assert split["hooks"] * 60 >= 0.95 * slow.seconds
    assert breakdown.report().startswith("hook-bound: ")


def test_the_parts_add_up_to_the_elapsed_time(tmp_path):
    """Counts seconds by a clock that advances by one each time that the hook reads it."""
    ticks = itertools.count(1)
    marks = []

    class Clock:
        now = 0

        def __call__(self):
            self.now = next(ticks)
            return self.now

    class Marks(est.SessionRunHook):
        def after_run(self, run_context, run_values):
            marks.append(clock.now)

    clock = Clock()
    breakdown = train(tmp_path, steps=101, hooks=[Marks()], clock=clock)
    elapsed = np.diff(marks)
    traced = [10 + 20 * n - 1 for n in range(5)]  # The intervals that end with a traced step.
    untraced = np.delete(elapsed, traced)
    assert set(untraced[1:-1]) == {untraced[1]}
    assert sum(breakdown.split.values()) == pytest.approx(untraced[1], rel=0.02)


def test_too_few_steps_are_reported(tmp_path, caplog):
    breakdown = train(tmp_path, steps=5)
    with pytest.raises(ValueError, match="needs more than 11"):
        _ = breakdown.split
    assert breakdown.report().startswith("no breakdown of the steps: StepBreakdown needs more than")


def test_waiting_counts_only_while_nothing_else_runs():
    metadata = tf1.RunMetadata()
    nodes = metadata.step_stats.dev_stats.add().node_stats
    for label, start, end in (
        ("next = IteratorGetNext(it)", 100, 1100),
        ("a = MatMul(x, y)", 600, 800),
        ("b = Mul(x, y)", 700, 900),
        ("call = RemoteCall(x)", 0, 5000),
        ("dequeue = QueueDequeueManyV2(q)", 2000, 2500),
        ("reduce = CollectiveReduceV2(x)", 1000, 1150),
    ):
        nodes.add(timeline_label=label, all_start_micros=start, op_end_rel_micros=end - start)
    assert read_trace(metadata.step_stats) == pytest.approx((1200e-6, 350e-6))


def test_a_bad_interval_is_named():
    with pytest.raises(ValueError, match="every_n_steps must be positive, but got 0"):
        StepBreakdown(every_n_steps=0)
