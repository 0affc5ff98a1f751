"""Clock of this process: how long it starts, restores, trains, saves, evaluates and waits."""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START, RESTORE, INPUT, STEPS = "start", "restore", "input", "steps"
CHECKPOINTS, EVALUATION, WAITING, OTHER = "checkpoints", "evaluation", "waiting", "other"
# Set by `estimator-train launch`: the time at which it started the task, and a file for records.
STARTED_VARIABLE = "ESTIMATOR_TRAIN_STARTED"
FILE_VARIABLE = "ESTIMATOR_TRAIN_GOODPUT_FILE"
_STARTED_FIELD = 19  # Of /proc/self/stat, counted from the field after the name.


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
