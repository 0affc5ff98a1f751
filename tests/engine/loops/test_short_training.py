"""Short trainings and evaluations of large graphs, which build no loop."""

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.engine.loops import graph_loop
from estimator_train.engine.tf_internals import graphs

tf1 = tf.compat.v1


class LoopCounter(est.SessionRunHook):
    """Hook that need not see steps, and counts the loops of a training."""

    loops = 0

    def steps_until_due(self, global_step: int) -> None:
        return None

    def after_loop(self, steps: int, loss: object) -> None:
        self.loops += 1


def _model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    weight = tf1.get_variable("weight", [], initializer=tf1.ones_initializer())
    loss = tf.square(tf.reduce_sum(features) - weight)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _make_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors([2.0]).repeat()


def _build_graph(size: int) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        for _ in range(size):
            tf.no_op()
    return graph


def test_loop_is_worth_its_time_after_some_steps_for_each_operation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graphs, "LARGE_GRAPH", 20)
    monkeypatch.setattr(graph_loop, "_OPERATIONS_PER_STEP", 2)
    small, large = _build_graph(19), _build_graph(20)
    assert graph_loop.is_worth_loop(small, 1)
    assert graph_loop.is_worth_loop(large, 11)
    assert graph_loop.is_worth_loop(large, None)
    assert not graph_loop.is_worth_loop(large, 10)


@pytest.mark.parametrize("is_large", [False, True])
def test_short_training_of_large_graph_runs_the_same_steps_without_a_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    if is_large:
        monkeypatch.setattr(graphs, "LARGE_GRAPH", 0)
        monkeypatch.setattr(graph_loop, "_OPERATIONS_PER_STEP", 1)
    hook = LoopCounter()
    estimator = est.Estimator(_model_fn, tmp_path)
    estimator.train(_make_input, hooks=[hook], steps=6)
    assert bool(hook.loops) is not is_large
    assert estimator.get_variable_value("weight") == pytest.approx(2 - 0.8**6)
    results = estimator.evaluate(_make_input, steps=3)
    assert results["loss"] == pytest.approx(0.8**12)
