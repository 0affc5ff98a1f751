"""Intervals of hooks and Savers while the clock of the machine is set back or forward."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est

HOUR = 3600.0


class Clocks:
    """The clock of the machine and the steady clock; both run only when a test says so."""

    def __init__(self) -> None:
        self.steady, self.of_day = 5 * HOUR, 1e6 * HOUR

    def advance(self, secs: float) -> None:
        self.steady += secs
        self.of_day += secs


@pytest.fixture
def clocks(monkeypatch: Any) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr(time, "monotonic", lambda: clocks.steady)
    monkeypatch.setattr(time, "time", lambda: clocks.of_day)
    return clocks


class EachStepHook(tf.compat.v1.train.SessionRunHook):
    """Hook after which a tenth of an hour has passed; sets the clock at a step."""

    def __init__(self, clocks: Clocks, jump: float, at_step: int = 5) -> None:
        self._clocks, self._jump, self._at_step = clocks, jump, at_step
        self.steps = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.steps += 1
        self._clocks.advance(HOUR / 10)
        if self.steps == self._at_step:
            self._clocks.of_day += self._jump


class RecordingHook(tf.compat.v1.train.LoggingTensorHook):
    """LoggingTensorHook that records after how many steps it logs."""

    def __init__(self, seconds: float, steps: EachStepHook) -> None:
        self.logged: list[int] = []
        self._steps = steps
        super().__init__(["the_loss"], every_n_secs=seconds, formatter=self._record)

    def _record(self, values: Any) -> str:
        self.logged.append(self._steps.steps)
        return "logged"


def count_up(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    step = tf.compat.v1.train.get_global_step().assign_add(1)
    return est.EstimatorSpec(mode, loss=tf.constant(1.0, name="the_loss"), train_op=step.op)


def train(model_dir: Path, hook: EachStepHook, *others: Any, **settings: Any) -> list[int]:
    """Trains 16 steps; returns the steps of the checkpoints."""
    config = est.RunConfig(save_summary_steps=None, **settings)
    estimator = est.Estimator(count_up, model_dir, config)
    estimator.train(
        lambda: tf.data.Dataset.from_tensors(0.0).repeat(), steps=16, hooks=[*others, hook]
    )
    names = [name for name in os.listdir(model_dir) if name.endswith(".index")]
    return sorted(int(name.partition("-")[2].partition(".")[0]) for name in names)


@pytest.mark.parametrize("jump", [-10 * HOUR, 10 * HOUR], ids=["back", "forward"])
def test_checkpoints_and_logs_follow_the_steady_clock(
    jump: float, clocks: Clocks, tmp_path: Path
) -> None:
    hook = EachStepHook(clocks, jump)
    log = RecordingHook(0.5 * HOUR, hook)
    kept = train(tmp_path, hook, log, save_checkpoints_secs=0.5 * HOUR, keep_checkpoint_max=20)
    assert kept == [0, 6, 11, 16]
    intervals = [later - one for one, later in itertools.pairwise(log.logged)]
    assert intervals == [5, 5, 5]


@pytest.mark.parametrize("jump", [-10 * HOUR, 10 * HOUR], ids=["back", "forward"])
def test_checkpoints_that_are_kept_for_ever_follow_the_steady_clock(
    jump: float, clocks: Clocks, tmp_path: Path
) -> None:
    settings = {
        "save_checkpoints_steps": 1,
        "keep_checkpoint_max": 1,
        "keep_checkpoint_every_n_hours": 0.5,
        # A thread would read the clocks while a hook changes them.
        "checkpoint_mode": "sync",
    }
    usual = train(tmp_path / "usual", EachStepHook(clocks, 0.0), **settings)
    kept = train(tmp_path / "jump", EachStepHook(clocks, jump), **settings)
    assert kept == usual
    assert len(usual) > 2


def test_the_speed_in_steps_per_second_is_positive(clocks: Clocks, tmp_path: Path) -> None:
    found: list[float] = []

    class Speed(tf.compat.v1.train.StepCounterHook):
        def _log_and_record(self, elapsed_steps: int, elapsed_time: float, step: int) -> None:
            found.append(elapsed_steps / elapsed_time)

    speed = Speed(every_n_steps=4, output_dir=str(tmp_path))
    train(tmp_path, EachStepHook(clocks, -HOUR), speed)
    assert found == pytest.approx([10 / HOUR] * len(found))
    assert len(found) >= 2
