"""Goodput of a training: its useful time over its elapsed time, and the time lost by cause.

A `Clock` measures the time of one process by cause: start, restore, input, steps, checkpoints,
evaluation, waiting. `account_for` adds up the records of all processes that made one training, one
after the other, including those that were killed. TensorFlow is not imported.

A record is a JSON object with `step`, `time` (seconds since the epoch) and `goodput`: `run` (start
of its process), `from_step` (global step that the process restored), `secs` (seconds by cause since
that start), in the last record of a training that was not killed `is_end`, and `from_copy` if the
process restored a step from a copy in memory.
"""

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

START, RESTORE, INPUT, STEPS = "start", "restore", "input", "steps"
CHECKPOINTS, EVALUATION, WAITING, OTHER = "checkpoints", "evaluation", "waiting", "other"
_NUMBER = (int, float)
_TYPES = {
    **dict.fromkeys(("step", "time"), _NUMBER),
    "loss": (*_NUMBER, str, type(None)),  # NaN and infinities: `json_numbers.py`.
    **dict.fromkeys(("steps_per_sec", "examples_per_sec", "replicas"), _NUMBER),
    **dict.fromkeys(("eval", "checkpoint"), str),
    **dict.fromkeys(("metrics", "goodput"), dict),
}
_TYPES_OF_RECORD = {"run": _NUMBER, "from_step": int, "secs": dict}
# Set by `estimator-train launch`: the time at which it started the task, and a file for records.
STARTED_VARIABLE = "ESTIMATOR_TRAIN_STARTED"
FILE_VARIABLE = "ESTIMATOR_TRAIN_GOODPUT_FILE"
_STARTED_FIELD = 19  # Of /proc/self/stat, counted from the field after the name.
LOST_STEPS, INTERRUPTION = "lost steps", "interruption"
# Of a record: the seconds of a synchronous worker for its own part of a step.
OWN_PART = "own_part_secs"
_MIN_RATIO = 1.2
_MIN_STEPS = 50
# A shorter difference of two synchronous workers is one of their clocks and threads.
_MIN_DIFFERENCE_SECS = 0.001
# The first steps of a session prepare its graphs.
_SKIPPED, _MIN_MEASURED = 2, 5


class Clock:
    """Clock that adds the time of one thread, from the start of the process, to causes.

    Spans may be nested: the time of an inner span does not count for the outer one.

    Args:
      started: Start of the process, in seconds since the epoch.
    """

    def __init__(self, started: float) -> None:
        self.start(started)

    def start(self, started: float) -> None:
        """Starts the clock again, as that of a process that started at this time."""
        self.started = started
        self._secs: dict[str, float] = {START: max(0.0, time.time() - started)}
        self._causes = [START]
        self._since = time.monotonic()
        self._thread: int | None = None
        self._model_dir: str | None = None
        self._pid = os.getpid()

    @contextlib.contextmanager
    def spend(self, cause: str) -> Iterator[None]:
        """Counts the time of the with block for a cause; does nothing in other threads.

        The first thread that calls this method is measured.
        """
        if self._pid != os.getpid():
            self.start(start_of_process())  # A fork of the process that imported this module.
        if self._thread is None:
            self._thread = threading.get_ident()
        if self._thread != threading.get_ident():
            yield
            return
        self._count()
        self._causes.append(cause)
        try:
            yield
        finally:
            self._count()
            self._causes.pop()

    def switch(self, cause: str) -> None:
        """Changes the cause of the current span from now on."""
        if self._thread == threading.get_ident():
            self._count()
            self._causes[-1] = cause

    @contextlib.contextmanager
    def measure_training(self, model_dir: str) -> Iterator[None]:
        """Counts the time of the with block, a training, as its start until `switch` is called.

        The clock starts again with a training of another model_dir. Time outside of spans counts as
        the start of the first training, and as other time later.

        Args:
          model_dir: The directory of the model that is trained.
        """
        self._begin_training(model_dir)
        with self.spend(START):
            yield

    def _begin_training(self, model_dir: str) -> None:
        if self._pid != os.getpid():
            self.start(start_of_process())
        if self._model_dir is None:
            # In an interactive program the start of the process says nothing about the training.
            starts_again = hasattr(sys, "ps1")
        else:
            starts_again = self._model_dir != model_dir
        if starts_again:
            self.started, self._secs, self._since = time.time(), {}, time.monotonic()
        self._model_dir = model_dir
        self._count()
        self._causes[0] = OTHER

    def read_secs(self) -> dict[str, float]:
        """Returns the seconds of each cause since the start of the process."""
        self._count()
        return {cause: round(secs, 4) for cause, secs in self._secs.items()}

    def _count(self) -> None:
        now = time.monotonic()
        cause = self._causes[-1]
        self._secs[cause] = self._secs.get(cause, 0.0) + now - self._since
        self._since = now


def append_to_launchers_file(record: dict[str, Any]) -> None:
    """Appends a record to the file of this task, if `estimator-train launch` started it."""
    path = os.environ.get(FILE_VARIABLE)
    if path:
        # The file's directory is gone if the launcher was killed.
        with contextlib.suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def start_of_process() -> float:
    """Returns the time at which this process, or the task that it runs, was started."""
    try:
        if started := os.environ.get(STARTED_VARIABLE):
            return float(started)
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        return booted + int(fields[_STARTED_FIELD]) / os.sysconf("SC_CLK_TCK")
    except (AttributeError, OSError, ValueError):  # Not Linux, or a wrong variable.
        return time.time()


# State of the process: it has one clock.
process_clock = Clock(start_of_process())


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
        # Not the record's time of day: the clock may have been set back in between.
        self.ended = self.started + sum(_read_secs(self.last).values())
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


def read_entries(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the entries of a history; skips damaged lines, and those without a step.

    Args:
      lines: Lines of a history or of a task's file.
    """
    for line in lines:
        try:
            found = json.loads(line.decode())
        except (ValueError, RecursionError):
            continue  # A killed process or a full disk cuts off a line.
        if isinstance(found, dict) and "step" in found and _has_types(found, _TYPES):
            yield found


def read_records(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Returns the records among the lines of a history or of a task's file."""
    return [
        found
        for found in read_entries(line for line in lines if b'"goodput"' in line)
        if "goodput" in found and _has_types(found["goodput"], _TYPES_OF_RECORD, needs_all=True)
    ]


def _has_types(
    found: Mapping[str, Any], types: Mapping[str, Any], *, needs_all: bool = False
) -> bool:
    if needs_all and types.keys() - found.keys():
        return False
    return all(isinstance(value, types[name]) for name, value in found.items() if name in types)


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
