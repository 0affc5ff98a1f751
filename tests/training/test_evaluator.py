"""The evaluator of a cluster, in one process: when it begins and when it ends."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.training import evaluator
from estimator_train.training.evaluator import Finished


def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    step = tf.compat.v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=step.assign_add(1))


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors([2.0]).repeat()


def make(model_dir: Path, **config: Any) -> est.Estimator:
    # A test of an evaluator that does not end fails soon.
    settings = {"session_creation_timeout_secs": 20, **config}
    return est.Estimator(model_fn, model_dir, est.RunConfig(**settings))


def evaluate(estimator: est.Estimator, max_steps: int | None, delay: int = 20) -> list[int]:
    """Returns the steps that the evaluator evaluated last."""
    train_spec = est.TrainSpec(input_fn, max_steps)
    specs = [est.EvalSpec(input_fn, steps=1, start_delay_secs=delay, throttle_secs=0)]
    found = evaluator.evaluate_continuously(estimator, train_spec, specs)
    return [evaluation.last_step for evaluation in found]


@pytest.mark.parametrize("max_steps", [3, 100, None])
def test_a_finished_training_is_evaluated_once_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_steps: int | None
) -> None:
    # The file may be of an earlier training, so that the evaluator waits before it believes it.
    monkeypatch.setattr(evaluator, "_BELIEVED_AFTER_SECS", 0.0)
    estimator = make(tmp_path).train(input_fn, steps=3)
    Finished(estimator.model_dir).write()
    assert evaluate(estimator, max_steps) == [3]


def test_a_chief_without_an_end_marker_is_awaited_until_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "_AFTER_MAX_STEPS", 0.0)
    assert evaluate(make(tmp_path).train(input_fn, steps=3), max_steps=3) == [3]


def test_a_training_that_ended_without_a_checkpoint_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(evaluator, "_BELIEVED_AFTER_SECS", 0.0)
    Finished(str(tmp_path)).write()
    with caplog.at_level(logging.INFO):
        assert evaluate(make(tmp_path), max_steps=3) == [0]
    assert "Waiting 20.000000 secs before starting eval." in caplog.messages
    assert "Exiting evaluation: training has ended without a checkpoint." in caplog.text


def test_a_missing_checkpoint_is_an_error_at_the_limit(tmp_path: Path) -> None:
    estimator = make(tmp_path, session_creation_timeout_secs=1)
    with pytest.raises(tf.errors.DeadlineExceededError, match="for the first checkpoint in"):
        evaluate(estimator, max_steps=3, delay=0)


def test_patience_grows_to_three_times_the_longest_interval_between_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator = make(tmp_path)
    specs = [est.EvalSpec(input_fn, steps=1)]
    sidecar = evaluator._Evaluator(estimator, est.TrainSpec(input_fn), specs)
    clock = iter([100.0, 101.0, 131.0, 140.0])
    monkeypatch.setattr(evaluator, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    patience = []
    for _ in range(4):
        estimator.train(input_fn, steps=1)
        assert not sidecar.evaluate_due()
        patience.append(sidecar._deadline._seconds)
    assert patience == [20.0, 20.0, 90.0, 90.0]


def test_the_first_evaluation_waits_for_the_start_delay(tmp_path: Path) -> None:
    spec = est.EvalSpec(input_fn)
    sidecar = evaluator._Evaluator(make(tmp_path), est.TrainSpec(input_fn), [spec])
    start = time.monotonic()
    sidecar.wait_for_start(0.2)
    assert time.monotonic() - start >= 0.2


def test_a_new_training_removes_the_end_marker(tmp_path: Path) -> None:
    marker = Finished(str(tmp_path))
    with marker.mark_end():
        assert marker.read() is None
    assert marker.read() is not None
    with pytest.raises(ZeroDivisionError), marker.mark_end():
        _ = 1 / 0
    assert marker.read() is None
