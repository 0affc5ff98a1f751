"""The slowest worker is named, with how much slower it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from launched import launched, python

from estimator_train.engine.run.history import read_straggler
from estimator_train.goodput.stragglers import describe_straggler


def records(steps: int, secs: float, waited: float = 0.0) -> list[dict[str, Any]]:
    values = {"own_steps": steps, "peer_wait": waited, "secs": {"steps": secs, "start": 9.0}}
    return [{"step": steps, "time": 0.0, "goodput": values}]


def test_the_wait_for_others_does_not_count() -> None:
    found = {"chief:0": records(100, 3, 2), "worker:0": records(100, 3), "worker:1": records(50, 1)}
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
def test_small_differences_and_few_steps_are_no_sign(found: dict[str, Any]) -> None:
    assert describe_straggler(found) == ""


@pytest.mark.long
def test_a_synchronous_worker_with_slow_input_is_named(tmp_path: Path) -> None:
    done = launched(["--workers=1"], python("slow_worker_job.py", tmp_path, 500, "worker:0"))
    assert done.code == 0, done.text
    assert done.lines("launch")[-1].startswith("worker:0 is a straggler: ")
    assert read_straggler(str(tmp_path)).startswith("worker:0 is a straggler: ")
