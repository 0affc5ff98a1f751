"""Strategies compute what one device does on the global batch; synchronous workers end together.

These tests cover `tf_internals/strategies.py`, `together/strategies.py` and
`together/synchronous.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest
from fifty_steps import STEPS
from launched import ROOT, launched, numbers_after, processes_with, python
from linear_job import SAVE_STEPS, TRUE_WEIGHTS

DEVICES = ("mirrored", "central", "central_v1")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return forked.printed(
        ROOT / "tests" / "distribute" / "fifty_steps.py",
        *(tmp_path_factory.mktemp("devices"), "single", *DEVICES),
        PYTHONPATH=str(ROOT),
    )


@pytest.mark.parametrize("name", DEVICES)
def test_two_devices_have_the_losses_of_one_device(outcomes: dict[str, Any], name: str) -> None:
    assert len(outcomes[name]["losses"]) == STEPS
    assert outcomes[name]["losses"] == pytest.approx(outcomes["single"]["losses"], rel=1e-4)
    assert outcomes[name]["names"] == outcomes["single"]["names"]
    assert outcomes[name]["metrics"] == pytest.approx(outcomes["single"]["metrics"], rel=1e-4)


def test_two_workers_have_the_losses_of_one_device(
    outcomes: dict[str, Any], tmp_path: Path
) -> None:
    done = launched(
        ["--workers=1", "--max_restarts=0"], python("fifty_steps.py", tmp_path, "workers")
    )
    assert done.code == 0, done.text[-3000:]
    for task in ("chief:0", "worker:0"):
        result = json.loads(done.lines(task)[-1])["workers"]
        assert result["losses"] == pytest.approx(outcomes["single"]["losses"], rel=1e-4)
        assert result["names"] == outcomes["single"]["names"]
        assert result["metrics"] == pytest.approx(outcomes["single"]["metrics"], rel=1e-4)


@pytest.mark.long
def test_all_workers_continue_from_the_last_checkpoint_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATEGY", "multi_worker")
    done = launched(
        ["--workers=1", "--evaluator", "--max_restarts=3"],
        python("linear_job.py", tmp_path, 300, "worker:0:130", "chief:0:230"),
    )
    assert done.code == 0, done.text[-3000:]
    begins = [line.split()[-1] for line in done.lines("chief:0") if line.startswith("begins at")]
    assert begins[0] == "None"
    assert int(begins[1]) >= 130 - SAVE_STEPS
    assert int(begins[2]) >= 230 - SAVE_STEPS
    assert numbers_after("step", done.lines("chief:0")) == [300]
    assert numbers_after("evaluated", done.lines("evaluator:0")) == [300]
    weights = numbers_after("weights", done.lines("worker:0"))
    np.testing.assert_allclose(weights, TRUE_WEIGHTS.ravel(), atol=1e-2)
    assert not processes_with(str(tmp_path))


ENDS = """
import sys
import tensorflow as tf
sys.path.insert(0, sys.argv[1])
import estimator_train as est
from linear_job import input_fn, model_fn

class StopOne(tf.compat.v1.train.SessionRunHook):
    def before_run(self, run_context):
        self.steps = getattr(self, "steps", 0) + 1
        if self.steps == 7 and estimator.config.task_type == "worker":
            run_context.request_stop()

strategy = tf.distribute.MultiWorkerMirroredStrategy()
for case, hooks in (("uneven", ()), ("asked", (StopOne(),)), ("empty", ())):
    config = est.RunConfig(sys.argv[2] + case, train_distribute=strategy)
    estimator = est.Estimator(model_fn, config=config)

    def inputs(input_context):
        batches = {"uneven": (5, 9), "asked": (99, 99), "empty": (3, 0)}[case]
        return input_fn().take(batches[input_context.input_pipeline_id])

    estimator.train(inputs, hooks=hooks)
    print("steps", case, int(estimator.get_variable_value("global_step")), flush=True)
"""


@pytest.mark.long
def test_workers_end_together_at_the_end_of_any_input_or_on_a_request(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    program = forked.python("-c", ENDS, here, tmp_path / "run_")
    done = launched(["--workers=1", "--max_restarts=0"], program)
    assert done.code == 0, done.text[-3000:]
    for task in ("chief:0", "worker:0"):
        steps = [line.split()[1:] for line in done.lines(task) if line.startswith("steps")]
        # A worker that is asked to stop makes one more step to announce it.
        assert steps == [["uneven", "5"], ["asked", "8"], ["empty", "0"]]


THREE_STRATEGIES = """
import sys, time
import tensorflow as tf
sys.path.insert(0, sys.argv[1])
import estimator_train as est
from linear_job import input_fn, model_fn

for steps in (2, 4, 6):
    if steps > 2 and est.RunConfig().task_type == sys.argv[3]:
        time.sleep(1)  # The other worker waits in its first collective.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = est.RunConfig(sys.argv[2], train_distribute=strategy)
    est.Estimator(model_fn, config=config).train(input_fn, max_steps=steps)
    print("trained to", steps, flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("late", ["chief", "worker"])
def test_a_second_training_may_have_a_new_strategy_and_a_late_worker(
    tmp_path: Path, late: str
) -> None:
    here = str(Path(__file__).parent)
    program = forked.python("-c", THREE_STRATEGIES, here, tmp_path / "run", late)
    done = launched(["--workers=1", "--max_restarts=0"], program)
    assert done.code == 0, done.text[-3000:]
    for task in ("chief:0", "worker:0"):
        trained = [line.split()[-1] for line in done.lines(task) if line.startswith("trained to")]
        assert trained == ["2", "4", "6"]
