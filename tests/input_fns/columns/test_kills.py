"""A training that is killed at random steps reads the rows of an unbroken one.

The commit chooses the steps; `TESTS_KILLS=20` in the environment kills more often.
"""

import os
import random
import signal
import subprocess
from pathlib import Path

import forked
import numpy as np
import pandas as pd
import pytest
import tiers
from processes import run_process

JOB = Path(__file__).with_name("killed_job.py")
ROWS, LAST_STEP = 400, 160


def read_log(path):
    return [[*map(int, line.split())] for line in path.read_text().splitlines()]


@pytest.mark.long
def test_the_rows_after_kills_are_those_of_an_unbroken_training(tmp_path):
    for number in range(3):
        ids = np.arange(number, ROWS, 3)
        frame = pd.DataFrame({"id": ids, "y": ids % 2})
        frame.to_parquet(tmp_path / f"{number}.parquet", row_group_size=29)

    def command(name, killed_at):
        return forked.python(
            JOB, tmp_path, tmp_path / name, tmp_path / f"{name}.log", killed_at, LAST_STEP
        )

    run_process(command("unbroken", 0))
    unbroken = {step: ids for step, *ids in read_log(tmp_path / "unbroken.log")}
    assert [*unbroken] == [*range(1, LAST_STEP + 1)]
    rows = [row for ids in unbroken.values() for row in ids]
    for start in range(0, len(rows) - ROWS, ROWS):
        assert sorted(rows[start : start + ROWS]) == [*range(ROWS)]

    kills = int(os.environ.get("TESTS_KILLS", "3"))
    steps = sorted(random.Random(tiers.read_commit()).sample(range(1, LAST_STEP), kills))
    for killed_at in steps:
        done = subprocess.run(command("killed", killed_at), capture_output=True, text=True)
        assert done.returncode == -signal.SIGKILL, done.stderr
    run_process(command("killed", 0))
    lines = read_log(tmp_path / "killed.log")
    assert [ids for _, *ids in lines] == [unbroken[step] for step, *_ in lines], steps
    assert {step for step, *_ in lines} == {*unbroken}
    assert len(lines) > LAST_STEP  # Steps since the last checkpoint were repeated.
