"""The slowest worker is named, with how much slower it is."""

from __future__ import annotations

from typing import Any

import pytest

from estimator_train.goodput.stragglers import describe_straggler


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
def test_small_differences_and_few_steps_are_no_sign(found: dict[str, Any]) -> None:
    assert describe_straggler(found) == ""
