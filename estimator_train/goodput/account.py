"""Adds up the records of all processes that made one training, one after the other.

A record is a JSON object with `step`, `time` (seconds since the epoch) and `goodput`: `run` (start
of its process), `from_step` (global step that the process restored), `secs` (seconds by cause since
that start), in the last record of a training that was not killed `is_end`, and `from_copy` if the
process restored a step from a copy in memory.
"""

import collections
import dataclasses
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from estimator_train.goodput.clock import STEPS

LOST_STEPS, INTERRUPTION = "lost steps", "interruption"


@dataclasses.dataclass(frozen=True)
class Goodput:
    """Useful and lost time of a training, or of all tasks of one.

    Attributes:
      elapsed_secs: Time from the first start to the last record, without pauses between trainings
        that ended themselves.
      useful_secs: Time of the steps that a later checkpoint or the end kept.
      steps: Number of these steps.
      lost_steps: Number of steps that were made and not kept.
      restarts: Number of starts after an interruption.
      lost_secs: All other time by cause. "lost steps" is the time of steps that were not kept;
        "interruption" the time from the last record of a process to the start of the next.
    """

    elapsed_secs: float
    useful_secs: float
    steps: int
    lost_steps: int
    restarts: int
    lost_secs: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Useful time divided by elapsed time."""
        return self.useful_secs / self.elapsed_secs if self.elapsed_secs else 0.0

    def __str__(self) -> str:
        causes = sorted(self.lost_secs.items(), key=lambda item: -item[1])
        lost = ", ".join(f"{cause} {secs:.1f} s" for cause, secs in causes if secs >= 0.05)
        restarts = f", {self.restarts} restarts" if self.restarts else ""
        return (
            f"{self.ratio:.2f} ({self.useful_secs:.1f} s of {self.elapsed_secs:.1f} s useful, "
            f"{self.steps} steps kept, {self.lost_steps} lost{restarts}; time lost: {lost})"
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the ratio as `goodput`, and all attributes."""
        values = dataclasses.asdict(self)
        values["lost_secs"] = {cause: round(secs, 3) for cause, secs in self.lost_secs.items()}
        return {"goodput": round(self.ratio, 4), **values}


class _Run:
    """Records of one process."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self.started = float(records[0]["goodput"]["run"])
        self.first_step = int(records[0]["goodput"]["from_step"])
        self.points = [(self.first_step, 0.0)]
        for record in records:
            self.points.append((int(record["step"]), _read_secs(record).get(STEPS, 0.0)))
        self.last = records[-1]
        self.last_step = self.points[-1][0]
        self.ended = float(self.last["time"])
        self.is_end = bool(self.last["goodput"].get("is_end"))
        self.is_from_copy = bool(records[0]["goodput"].get("from_copy"))

    def sum_secs_of_steps(self, step: int) -> float:
        """Returns the seconds of the steps up to a global step, between records by their shares."""
        for (step_0, secs_0), (step_1, secs_1) in itertools.pairwise(self.points):
            if step < step_1:
                share = (step - step_0) / (step_1 - step_0) if step > step_0 else 0.0
                return secs_0 + share * (secs_1 - secs_0)
        return self.points[-1][1]

    def secs_per_step(self) -> float:
        """Returns the mean time of a step; 0 if there is no record of a step."""
        return self.points[-1][1] / max(1, self.last_step - self.first_step)


def read_objects(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yields the objects among JSON lines; skips all other lines.

    Args:
      lines: Lines of a history or of a task's file.
    """
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue  # A killed process may have written an incomplete line.
        if isinstance(found, dict):
            yield found


def read_records(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Returns the records among JSON lines."""
    return [found for found in read_objects(lines) if isinstance(found.get("goodput"), dict)]


def account_for(records: Iterable[Mapping[str, Any]]) -> Goodput | None:
    """Returns the goodput of a training, or None without records.

    Args:
      records: Records of its processes, in the order in which they were written.
    """
    grouped: dict[float, list[Mapping[str, Any]]] = collections.defaultdict(list)
    for record in records:
        grouped[float(record["goodput"]["run"])].append(record)
    runs = [_Run(grouped[started]) for started in sorted(grouped)]
    if not runs:
        return None
    lost: dict[str, float] = collections.defaultdict(float)
    useful, pauses = 0.0, 0.0
    steps, lost_steps, restarts = 0, 0, 0
    successors: list[_Run | None] = [*runs[1:], None]
    for run, following in zip(runs, successors, strict=True):
        kept_step = run.last_step
        if following is not None:
            kept_step = max(run.first_step, min(kept_step, following.first_step))
            pause = max(0.0, following.started - run.ended)
            if following.is_from_copy and following.first_step > run.last_step:
                # The process was killed after it had copied this step and before its next record.
                made = following.first_step - run.last_step
                secs = min(pause, made * run.secs_per_step())
                useful, steps, pause = useful + secs, steps + made, pause - secs
            pauses += pause if run.is_end else 0.0
            lost[INTERRUPTION] += 0.0 if run.is_end else pause
            restarts += int(not run.is_end)
        kept_secs = run.sum_secs_of_steps(kept_step)
        useful += kept_secs
        steps += kept_step - run.first_step
        lost_steps += run.last_step - kept_step
        lost[LOST_STEPS] += run.points[-1][1] - kept_secs
        for cause in _read_secs(run.last).keys() - {STEPS}:
            lost[cause] += _read_secs(run.last)[cause]
    elapsed = runs[-1].ended - runs[0].started - pauses
    return Goodput(elapsed, useful, steps, lost_steps, restarts, dict(lost))


def add_up(accounts: Sequence[Goodput]) -> Goodput:
    """Returns the sum over the tasks of a cluster; its steps are those of the task with the most.

    Args:
      accounts: The goodput of each task, at least one.
    """
    lost: dict[str, float] = collections.defaultdict(float)
    for account in accounts:
        for cause, secs in account.lost_secs.items():
            lost[cause] += secs
    return Goodput(
        sum(account.elapsed_secs for account in accounts),
        sum(account.useful_secs for account in accounts),
        max(account.steps for account in accounts),
        max(account.lost_steps for account in accounts),
        sum(account.restarts for account in accounts),
        dict(lost),
    )


def _read_secs(record: Mapping[str, Any]) -> dict[str, float]:
    return {cause: float(secs) for cause, secs in record["goodput"]["secs"].items()}
