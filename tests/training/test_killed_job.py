"""A job that is killed at ten random moments and started again each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import killed_job
import pytest

SEED = 3


@pytest.mark.slow
def test_a_job_killed_ten_times_ends_as_an_unbroken_one(tmp_path: Path) -> None:
    root = Path(killed_job.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, killed_job.__file__, str(tmp_path), str(SEED)],
        env={**os.environ, "PYTHONPATH": str(root), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    seen = json.loads(done.stdout)
    assert seen["starts"][:-1] == [None] * killed_job.KILLS
    last = seen["starts"][-1]
    assert last["global_step"] == last["read"] == killed_job.MAX_STEPS
    losses = [run["loss"] for run in seen["unbroken"]]
    # Three runs may happen to be closer to each other than runs are.
    spread = max(3 * (max(losses) - min(losses)), 0.03)
    assert min(losses) - spread < last["loss"] < max(losses) + spread
    assert list((tmp_path / "killed" / "export" / "final").glob("1*"))
    assert not list((tmp_path / "killed").glob("*unfinished*"))
