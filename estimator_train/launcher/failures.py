"""Failures of launched tasks: where each happened, and when restarting is pointless."""

import collections
import dataclasses
import re
import signal
from collections.abc import Sequence
from pathlib import Path

_SAME_PLACE_LIMIT = 3
_MAX_DELAY_SECS = 60.0
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s+File "(.+)", line (\d+)')
# Signals of a process that crashed; others come from outside and say nothing about the program.
_CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
_MAX_MESSAGE_LENGTH = 600


@dataclasses.dataclass(frozen=True)
class Failure:
    """Failure of one task.

    Attributes:
      task: The task, as "worker:1".
      code: The exit code, 128 + N if signal N ended the process.
      message: The error message of the program, "" if it printed nothing.
      place: The line of code that raised the error and the error's type, or the last line of
        output; "" if the cause is outside of the program, as a signal is.
    """

    task: str
    code: int
    message: str
    place: str

    def __str__(self) -> str:
        message = f": {self.message}" if self.message else ""
        return f"{self.task} {_describe_ending(self.code)}{message.rstrip('.')}."


def read_failure(task: str, code: int, output: Sequence[str]) -> Failure:
    """Finds the error message and the failing line of code in the output of a task.

    Args:
      task: The task, as "worker:1".
      code: Its exit code, 128 + N if signal N ended the process.
      output: The last lines of its output.
    """
    if is_signal(code):
        return Failure(task, code, "", str(code) if code - 128 in _CRASHES else "")
    printed = [line for line in output if line.strip()]
    message = printed[-1].strip() if printed else ""
    place = message
    if _TRACEBACK in printed:
        start = len(printed) - printed[::-1].index(_TRACEBACK)
        frames = 0
        while start + frames < len(printed) and printed[start + frames][0].isspace():
            frames += 1
        files = list(filter(None, map(_FRAME.match, printed[start : start + frames])))
        if files and start + frames < len(printed):
            error = printed[start + frames]
            where = f"{files[-1][1]}:{files[-1][2]}"
            message, place = f"{error} ({where})", f"{where} {error.partition(':')[0]}"
    return Failure(task, code, message[:_MAX_MESSAGE_LENGTH], place or f"exit code {code}")


class FailureHistory:
    """Failures and restarts of a job since its last new checkpoint.

    Args:
      checkpoint_file: File to which the tasks write the path of each new checkpoint.
    """

    def __init__(self, checkpoint_file: Path) -> None:
        self._checkpoint_file = checkpoint_file
        self._checkpoint = ""
        self._places: collections.Counter[tuple[str, str]] = collections.Counter()
        self._restarts = 0

    def add(self, failure: Failure) -> None:
        """Counts a failure; the counts start again after a new checkpoint."""
        checkpoint = self._checkpoint_file.read_text()
        if checkpoint != self._checkpoint:
            self._checkpoint = checkpoint
            self._places.clear()
            self._restarts = 0
        if failure.place:
            self._places[failure.task, failure.place] += 1

    def is_repeated(self, failure: Failure) -> bool:
        """Returns whether the task has failed at this place too often to be restarted."""
        return self._places[failure.task, failure.place] >= _SAME_PLACE_LIMIT

    def count_restart(self) -> float:
        """Counts a restart; returns the seconds to wait before it: 0, 1, 2, 4, ... up to 60."""
        self._restarts += 1
        return min(2.0 ** (self._restarts - 2), _MAX_DELAY_SECS) if self._restarts > 1 else 0.0


def is_signal(code: int) -> bool:
    """Returns whether a signal ended a process with this exit code; sys.exit(-1) is code 255."""
    return code - 128 in set(signal.Signals)


def _describe_ending(code: int) -> str:
    if is_signal(code):
        return f"was ended by {signal.Signals(code - 128).name}"
    return f"failed with exit code {code}"
