"""A job that is ended at ten moments of all kinds and started again each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import one_process
import pytest

SEED, TIMES = 3, 10
STEPS = one_process.max_steps(TIMES)


def run_job(directory: Path, ended_by: str) -> Any:
    root = Path(one_process.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, one_process.__file__, str(directory), str(SEED), ended_by, str(TIMES)],
        env={**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return json.loads(done.stdout)


def check_end(directory: Path, seen: Any) -> None:
    """The last start ended as a job does that nothing ever happened to."""
    last = seen["starts"][-1]
    assert last["global_step"] == last["read"] == STEPS
    assert last["seen"] == [1, 1]  # Every example exactly once in each epoch.
    losses = [run["loss"] for run in seen["unbroken"]]
    # Three runs may happen to be closer to each other than runs are.
    spread = max(3 * (max(losses) - min(losses)), 0.03)
    assert min(losses) - spread < last["loss"] < max(losses) + spread
    assert list((directory / "broken" / "export" / "final").glob("1*"))
    assert not list((directory / "broken").glob("*unfinished*"))


@pytest.mark.slow
def test_a_job_killed_ten_times_ends_as_an_unbroken_one(tmp_path: Path) -> None:
    seen = run_job(tmp_path, "KILL")
    assert seen["starts"][:-1] == [None] * TIMES
    check_end(tmp_path, seen)
    steps = len((tmp_path / "broken.steps").read_text())
    assert steps <= STEPS + TIMES * one_process.SAVE_STEPS


@pytest.mark.slow
def test_a_job_preempted_ten_times_saves_each_time_and_loses_no_step(tmp_path: Path) -> None:
    seen = run_job(tmp_path, "TERM")
    assert seen["starts"][:-1] == [143] * TIMES
    check_end(tmp_path, seen)
    assert len((tmp_path / "broken.steps").read_text()) == STEPS
    assert max(seen["secs"]) < one_process.GRACE_SECS
