"""The slowest worker is named, with how much slower it is."""

from __future__ import annotations

from typing import Any

import pytest

from estimator_train.goodput.stragglers import OWN_PART, MeanOfSteps, describe_straggler


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
