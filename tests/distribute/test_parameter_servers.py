"""Asynchronous training between graphs: real processes, servers on the loopback interface.

These tests cover `together/asynchronous.py` and `together/ps_server.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from launched import launched, numbers_after, processes_with, python
from linear_job import SAVE_STEPS, TRUE_WEIGHTS

TASKS = ("chief:0", "worker:0", "worker:1", "ps:0", "evaluator:0")
CLUSTER = ("--workers=2", "--ps=1", "--evaluator")


def test_a_cluster_trains_to_the_end_and_every_process_ends(tmp_path: Path) -> None:
    done = launched([*CLUSTER, "--max_restarts=0"], python("linear_job.py", tmp_path, 400))
    assert done.code == 0, done.text[-3000:]
    reports = ("Goodput of ", "straggler")
    others = [line for line in done.lines("launch") if not any(one in line for one in reports)]
    assert others == []  # No task failed, and none had to be ended.
    assert numbers_after("step", done.lines("chief:0")) == [400]
    assert numbers_after("evaluated", done.lines("evaluator:0")) == [400]
    for task in TASKS:
        weights = numbers_after("weights", done.lines(task))
        np.testing.assert_allclose(weights, TRUE_WEIGHTS.ravel(), atol=1e-2)
    writers = {path.name for path in tmp_path.glob("events.out.tfevents.*")}
    assert len(writers) == 1  # The chief's alone.
    assert not processes_with(str(tmp_path))


@pytest.mark.long
def test_killed_tasks_restart_and_lose_at_most_one_interval(tmp_path: Path) -> None:
    kills = ["worker:0:80", "chief:0:160", "ps:0:300"]
    done = launched([*CLUSTER, "--max_restarts=6"], python("linear_job.py", tmp_path, 500, *kills))
    assert done.code == 0, done.text[-3000:]
    ends = [line for line in done.lines("launch") if "was ended by SIGKILL" in line]
    assert sorted(line.split()[0] for line in ends) == ["chief:0", "ps:0", "worker:0"]
    assert not any("failed" in line for line in done.lines("launch"))
    begins = [line for line in done.lines("chief:0") if line.startswith("begins at")]
    assert int(begins[1].split()[-1]) >= 160 - SAVE_STEPS
    assert numbers_after("step", done.lines("chief:0")) == [500]
    assert numbers_after("evaluated", done.lines("evaluator:0")) == [500]
    assert not processes_with(str(tmp_path))


@pytest.mark.long
def test_workers_with_synchronized_steps_end_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATEGY", "sync_replicas")
    launch = ["--workers=1", "--ps=1", "--max_restarts=0"]
    done = launched(launch, python("linear_job.py", tmp_path, 120))
    assert done.code == 0, done.text[-3000:]
    assert numbers_after("step", done.lines("chief:0")) == [120]
    # Every interval whole: nobody makes steps while a checkpoint is written.
    assert saved_steps(tmp_path) == [0, 50, 100, 120]
    trained = tf.train.load_variable(str(tmp_path), "weights")
    np.testing.assert_allclose(trained, TRUE_WEIGHTS, atol=0.1)
    assert not processes_with(str(tmp_path))


def saved_steps(model_dir: Path) -> list[int]:
    return sorted(int(path.stem.rpartition("-")[2]) for path in model_dir.glob("*.index"))
