"""Finds the worker that is slower than the others, from the records of all tasks."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from estimator_train.goodput.clock import STEPS

# Of a record: the seconds of a synchronous worker for its own part of a step.
OWN_PART = "own_part_secs"
_MIN_RATIO = 1.2
_MIN_STEPS = 50
# A shorter difference of two synchronous workers is one of their clocks and threads.
_MIN_DIFFERENCE_SECS = 0.001
# The first steps of a session prepare its graphs.
_SKIPPED, _MIN_MEASURED = 2, 5


class MeanOfSteps:
    """Mean of the times of steps, without the first two of a session."""

    def __init__(self) -> None:
        self._count, self._sum = 0, 0.0

    def add(self, secs: float) -> None:
        """Adds the seconds of a step."""
        self._count += 1
        self._sum += secs if self._count > _SKIPPED else 0.0

    @property
    def is_known(self) -> bool:
        """Whether enough steps were measured."""
        return self._count - _SKIPPED >= _MIN_MEASURED

    @property
    def secs(self) -> float:
        """The mean in seconds."""
        return self._sum / (self._count - _SKIPPED)


def compute_secs_per_step(records: Sequence[Mapping[str, Any]]) -> float | None:
    """Returns the seconds of a task for its own part of a step.

    Args:
      records: Records of the task; those of its last process count.

    Returns:
      None if the process made too few steps.
    """
    last = records[-1]["goodput"] if records else {}
    if OWN_PART in last:
        return float(last[OWN_PART])
    steps = int(last.get("own_steps", 0))
    if steps < _MIN_STEPS:
        return None
    return float(last["secs"].get(STEPS, 0.0)) / steps


def describe_straggler(records: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Returns a sentence that names the slowest task; "" if none is clearly slower than the others.

    Args:
      records: Task name to the records of the task.
    """
    secs = {
        name: found
        for name in records
        if (found := compute_secs_per_step(records[name])) is not None
    }
    if len(secs) < 2:
        return ""
    slowest = max(secs, key=lambda name: secs[name])
    others = statistics.median(value for name, value in secs.items() if name != slowest)
    if secs[slowest] < max(_MIN_RATIO * others, others + _MIN_DIFFERENCE_SECS):
        return ""
    return (
        f"{slowest} is a straggler: {1000 * secs[slowest]:.3g} ms for its part of a step, "
        f"{secs[slowest] / max(others, 1e-9):.1f} times as long as the other tasks "
        f"({1000 * others:.3g} ms)"
    )
