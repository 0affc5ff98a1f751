"""Goodput: the account of a training's time, from the records of its processes; stragglers."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import forked
import pytest
from processes import run_process

import estimator_train as est
from estimator_train import goodput
from estimator_train.engine.run.history import read_goodput
from estimator_train.goodput import (
    OWN_PART,
    Goodput,
    MeanOfSteps,
    account_for,
    add_up,
    describe_straggler,
    read_records,
)

_EVALUATION_SECS = 0.2


def record(run: float, from_step: int, step: int, **secs: float) -> dict[str, Any]:
    is_end = bool(secs.pop("is_end", 0))
    values = {"run": run, "from_step": from_step, "secs": secs}
    if secs.pop("from_copy", 0):
        values["from_copy"] = True
    return {
        "step": step,
        "time": run + sum(secs.values()),
        "goodput": {**values, **({"is_end": True} if is_end else {})},
    }


KILLED = [
    record(1000, 0, 0, start=5),
    record(1000, 0, 100, start=5, steps=10, checkpoints=1),
    record(1000, 0, 150, start=5, steps=15, checkpoints=1),
]


def test_steps_that_the_next_process_did_not_restore_are_lost():
    again = record(1024, 100, 200, start=4, steps=10, restore=1)
    found = account_for([*KILLED, again])
    assert found == Goodput(
        elapsed_secs=39,
        useful_secs=20,
        steps=200,
        lost_steps=50,
        restarts=1,
        lost_secs={
            "start": 9,
            "checkpoints": 1,
            "lost steps": 5,
            "interruption": 3,
            "restore": 1,
        },
    )
    assert found.useful_secs + sum(found.lost_secs.values()) == found.elapsed_secs
    assert found.ratio == pytest.approx(20 / 39)
    assert str(found) == (
        "0.51 (20.0 s of 39.0 s useful, 200 steps kept, 50 lost, 1 restarts; time lost: "
        "start 9.0 s, lost steps 5.0 s, interruption 3.0 s, checkpoints 1.0 s, restore 1.0 s)"
    )


def test_steps_that_a_copy_in_memory_kept_are_useful():
    again = record(1024, 120, 200, start=4, steps=8, from_copy=1)
    found = account_for([*KILLED, again])
    assert (found.steps, found.lost_steps, found.useful_secs) == (200, 30, 20)
    # It copied step 160 after its last record, of step 150; a step takes 0.1 s.
    later = record(1024, 160, 200, start=4, steps=4, from_copy=1)
    found = account_for([*KILLED, later])
    assert (found.steps, found.lost_steps, found.useful_secs) == (200, 0, 20)
    assert found.lost_secs["interruption"] == 2
    assert found.useful_secs + sum(found.lost_secs.values()) == found.elapsed_secs
    # Other workers of parameter servers made the steps.
    others = record(1024, 160, 200, start=4, steps=4)
    assert account_for([*KILLED, others]).useful_secs == 19


def test_a_kept_step_between_two_records_has_its_share_of_their_time():
    found = account_for([*KILLED, record(1021, 125, 125, start=1)])
    assert found is not None
    assert (found.useful_secs, found.steps, found.lost_steps) == (12.5, 125, 25)


def test_a_pause_after_a_training_that_ended_is_not_elapsed_time():
    ended = record(1000, 0, 100, start=5, steps=10, is_end=1)
    found = account_for([ended, record(9000, 100, 300, start=5, steps=20, is_end=1)])
    assert found is not None
    assert (found.elapsed_secs, found.useful_secs, found.restarts) == (40, 30, 0)


def test_goodput_adds_up_over_tasks():
    one = account_for(KILLED)
    assert one is not None
    both = add_up([one, one])
    assert (both.elapsed_secs, both.useful_secs, both.steps) == (42, 30, 150)
    assert both.lost_secs["start"] == 10


def test_other_lines_are_skipped():
    lines = [b'{"step": 1, "loss": 2}', b"[1]", b'half a "goodput', json.dumps(KILLED[0]).encode()]
    assert read_records(lines) == [KILLED[0]]
    assert account_for([]) is None


def test_inner_spans_do_not_count_for_outer_ones(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(goodput.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(goodput.time, "time", lambda: now[0])
    one = goodput.Clock(started=98.0)
    with one.spend("steps"):
        now[0] += 3
        with one.spend("checkpoints"):
            now[0] += 1
        one.switch("input")
        now[0] += 4
    with one.measure_training("a"):
        now[0] += 0.25
        one.switch("steps")
        now[0] += 1
    now[0] += 0.5
    spent = {"start": 2.25, "steps": 4, "checkpoints": 1, "input": 4, "other": 0.5}
    assert one.read_secs() == spent
    with one.measure_training("b"):  # Another training has its own time.
        now[0] += 2
        assert (one.started, one.read_secs()) == (109.75, {"other": 0, "start": 2})


JOB = """
import os, signal, sys
import tensorflow as tf
import estimator_train as est

def model_fn(features, mode):
    weight = tf.compat.v1.get_variable("weight", [])
    loss = (features * weight - 1.0) ** 2
    train = tf.compat.v1.train
    train_op = train.GradientDescentOptimizer(0.1).minimize(loss, train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

class Kill(tf.compat.v1.train.SessionRunHook):
    def __init__(self): self.steps = 0
    def after_run(self, run_context, run_values):
        self.steps += 1
        if sys.argv[2] == "kill" and self.steps == 25:
            os.kill(os.getpid(), signal.SIGKILL)

config = est.RunConfig(sys.argv[1], save_checkpoints_steps=10, checkpoint_mode="sync")
data = lambda: tf.data.Dataset.from_tensors(1.0).repeat()
est.Estimator(model_fn, config=config).train(data, hooks=[Kill()], max_steps=40)
"""


def test_a_killed_training_keeps_the_steps_of_its_checkpoint(tmp_path: Path) -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    for how in ("kill", "end"):
        command = forked.python("-c", JOB, tmp_path, how)
        run_process(command, exit_code=None, timeout=300, env=environment)
    found = read_goodput(str(tmp_path))
    assert found is not None
    assert (found.steps, found.restarts) == (40, 1)
    assert found.useful_secs + sum(found.lost_secs.values()) == pytest.approx(
        found.elapsed_secs, abs=0.5
    )
    assert {"start", "restore", "checkpoints", "interruption"} <= found.lost_secs.keys()


def test_the_time_of_evaluations_is_not_that_of_steps(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")

    def model_fn(features: Any, mode: str) -> Any:
        weight = tf.compat.v1.get_variable("weight", [])
        loss = (features * weight - 1.0) ** 2
        train = tf.compat.v1.train
        step = train.get_global_step()
        train_op = train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(1.0).repeat(20)

    class SlowHook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
        def end(self, session: Any) -> None:
            time.sleep(_EVALUATION_SECS)

    estimator = est.Estimator(model_fn, tmp_path)
    train_spec = est.TrainSpec(input_fn, 10)
    eval_spec = est.EvalSpec(input_fn, hooks=[SlowHook()], throttle_secs=0)
    est.train_and_evaluate(estimator, train_spec, eval_spec)
    estimator.train(input_fn, steps=1)
    found = read_goodput(str(tmp_path))
    assert found is not None
    assert found.lost_secs["evaluation"] >= _EVALUATION_SECS
    assert found.steps == 11


def records(steps: int, secs: float) -> list[dict[str, Any]]:
    values = {"own_steps": steps, "secs": {"steps": secs, "start": 9.0}}
    return [{"step": steps, "time": 0.0, "goodput": values}]


def test_the_slowest_task_is_named() -> None:
    found = {"chief:0": records(100, 1), "worker:0": records(100, 3), "worker:1": records(50, 1)}
    assert describe_straggler(found) == (
        "worker:0 is a straggler: 30 ms for its part of a step, 2.0 times as long as the other "
        "tasks (15 ms)"
    )


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"chief:0": records(100, 3)},
        {"chief:0": records(100, 3), "worker:0": records(100, 3.5)},
        {"chief:0": records(100, 3), "worker:0": records(49, 9), "ps:0": []},
    ],
)
def test_small_differences_and_few_steps_name_no_straggler(found: dict[str, Any]) -> None:
    assert describe_straggler(found) == ""


def own_part(secs: float) -> list[dict[str, Any]]:
    """Returns the record of a synchronous worker: its steps take as long as those of the others."""
    (record,) = records(100, 5)
    return [{**record, "goodput": {**record["goodput"], OWN_PART: secs}}]


def test_synchronous_workers_are_compared_by_their_own_part_of_a_step() -> None:
    found = {"chief:0": own_part(0.012), "worker:0": own_part(0.030)}
    assert describe_straggler(found) == (
        "worker:0 is a straggler: 30 ms for its part of a step, 2.5 times as long as the other "
        "tasks (12 ms)"
    )
    assert describe_straggler({"chief:0": own_part(0.0012), "worker:0": own_part(0.002)}) == ""


def test_the_mean_leaves_out_the_first_two_steps() -> None:
    mean = MeanOfSteps()
    for secs in (9.0, 9.0, 1.0, 2.0, 3.0, 4.0):
        mean.add(secs)
    assert not mean.is_known
    mean.add(5.0)
    assert mean.is_known
    assert mean.secs == 3.0
