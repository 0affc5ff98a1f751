"""A job that is ended at moments of all kinds and started again each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import forked
import one_process
import pytest
from processes import run_process

SEED = 3
# At a few moments always, and at those of all kinds once a change is done.
TIMES = pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.long)])


def run_job(directory: Path, ended_by: str, times: int) -> Any:
    root = Path(one_process.__file__).parents[2]
    done = run_process(
        forked.python(one_process.__file__, directory, SEED, ended_by, times),
        PYTHONPATH=str(root),
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    return json.loads(done.stdout)


def check_end(directory: Path, seen: Any, steps: int) -> None:
    """Checks that the last start ended like an undisturbed job."""
    last = seen["starts"][-1]
    assert last["global_step"] == last["read"] == steps
    assert last["seen"] == [1, 1]  # Every example exactly once in each epoch.
    losses = [run["loss"] for run in seen["unbroken"]]
    # The order of the examples is of chance: of six runs, a seventh is outside of this once in
    # thousands of times.
    spread = max(5 * (max(losses) - min(losses)), 0.03)
    assert min(losses) - spread < last["loss"] < max(losses) + spread
    assert list((directory / "broken" / "export" / "final").glob("1*"))
    assert not list((directory / "broken").glob("*unfinished*"))


@pytest.mark.long
@TIMES
def test_a_killed_job_ends_with_the_values_of_an_unbroken_one(tmp_path: Path, times: int) -> None:
    seen, steps = run_job(tmp_path, "KILL", times), one_process.max_steps(times)
    assert seen["starts"][:-1] == [None] * times
    check_end(tmp_path, seen, steps)
    made = len((tmp_path / "broken.steps").read_text())
    assert made <= steps + times * one_process.SAVE_STEPS


@pytest.mark.long
@TIMES
def test_a_preempted_job_saves_each_time_and_loses_no_step(tmp_path: Path, times: int) -> None:
    seen, steps = run_job(tmp_path, "TERM", times), one_process.max_steps(times)
    assert seen["starts"][:-1] == [143] * times
    check_end(tmp_path, seen, steps)
    assert len((tmp_path / "broken.steps").read_text()) == steps
    assert max(seen["secs"]) < one_process.GRACE_SECS
