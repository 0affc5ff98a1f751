"""Processes of a cluster on this machine: their output, their end, and what their failures mean.

The launcher forwards signals to them. A guard kills them when the launcher dies.
"""

import collections
import contextlib
import dataclasses
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

# It reads process groups from its standard input, which ends when the launcher ends. Signals to a
# whole job leave it running.
_PROGRAM = """
import os, shutil, signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, signal.SIG_IGN)
groups, directories = set(), []
for line in sys.stdin:
    if line.startswith("/"):
        directories.append(line.strip())
        continue
    change = groups.add if line.startswith("+") else groups.discard
    change(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
for directory in directories:
    shutil.rmtree(directory, ignore_errors=True)
"""
_OUTPUT_SECS = 5.0
_KEPT_LINES = 300
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_OTHER_SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)
_SAME_PLACE_LIMIT = 3
_MAX_DELAY_SECS = 60.0
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s+File "(.+)", line (\d+)')
# Signals of a process that crashed; others come from outside and say nothing about the program.
_CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
_MAX_MESSAGE_LENGTH = 600


class Guard:
    """Helper process that outlives the launcher: kills process groups and removes directories.

    The alternative, `preexec_fn` with PR_SET_PDEATHSIG, runs Python between fork and exec. That can
    deadlock in a process that has threads, and leaves the grandchildren running.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert self._process.stdin is not None
        self._input: IO[str] = self._process.stdin

    def add(self, group: int) -> None:
        """Registers a process group."""
        self._write(f"+{group}\n")

    def remove(self, group: int) -> None:
        """Forgets a process group, whose number the system may use again."""
        self._write(f"-{group}\n")

    def remove_directory(self, path: str) -> None:
        """Removes a directory when the launcher ends, in whatever way."""
        self._write(f"{path}\n")

    def close(self) -> None:
        """Ends the helper process."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._process.wait()

    def _write(self, line: str) -> None:
        # The job continues without the helper process if somebody killed that.
        with contextlib.suppress(BrokenPipeError):
            self._input.write(line)
            self._input.flush()


class Process(Protocol):
    """Process in its own process group, with a pipe for its output."""

    @property
    def pid(self) -> int:
        """Its number, also that of its group."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe of both standard output and standard error."""

    def poll(self) -> int | None:
        """Returns None while the process runs, then its exit code, -N if signal N ended it."""

    def wait(self) -> int | None:
        """Waits for the end of the process."""


def start_process(command: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Starts a program in its own process group.

    Args:
      command: The program and its arguments.
      environment: Environment variables to set in addition to those of this process.
    """
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


class TaskProcess:
    """Program of a task, in its own process group, with the task's name before each output line.

    Args:
      name: The task, as "worker:1".
      process: The process of the program.
      guard: Kills the process if the launcher dies.

    Attributes:
      exit_descriptor: Descriptor that is readable once the process has ended; None if the system
        has none.
    """

    def __init__(self, name: str, process: Process, guard: Guard) -> None:
        self.name = name
        self._guard = guard
        self._closed = False
        self._last_lines: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        self._process = process
        guard.add(self._process.pid)
        self.exit_descriptor = _open_exit_descriptor(self._process.pid)
        self._reader = threading.Thread(target=self._copy_output, name=name, daemon=True)
        self._reader.start()

    @property
    def last_lines(self) -> list[str]:
        """The last lines of the output."""
        return list(self._last_lines.copy())

    def exit_code(self) -> int | None:
        """Returns None while the process runs, then its code; 128 + N if signal N ended it."""
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def send(self, number: int) -> None:
        """Sends a signal to the process and all its child processes."""
        if not self._closed:  # Otherwise the system may have given its number to another process.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Kills all processes of the group and waits for the end of the output."""
        if self._closed:
            return
        self.send(signal.SIGKILL)
        self._closed = True
        self._process.wait()
        self._guard.remove(self._process.pid)
        if self.exit_descriptor is not None:
            os.close(self.exit_descriptor)
            self.exit_descriptor = None
        self._reader.join(_OUTPUT_SECS)

    def _copy_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                text = line.decode(errors="replace").rstrip("\r\n")
                self._last_lines.append(text)
                # One write per line: other tasks write to the same stream.
                with contextlib.suppress(BrokenPipeError, ValueError):
                    sys.stdout.write(f"[{self.name}] {text}\n")
                    sys.stdout.flush()


def wait_for_exit(processes: Iterable[TaskProcess], seconds: float) -> None:
    """Waits until one of these processes ends, or until the time is over.

    Args:
      processes: Processes that run.
      seconds: Maximum time to wait.
    """
    found = [process.exit_descriptor for process in processes]
    descriptors = [one for one in found if one is not None]
    if len(descriptors) < len(found):
        time.sleep(seconds)
    else:
        select.select(descriptors, [], [], seconds)


def _open_exit_descriptor(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # Not Linux, or a kernel before 5.3.
        return None


class SignalForwarder:
    """Received signals, from their arrival until the launcher forwards them.

    A handler runs between any two instructions, also while a task starts that the launcher does not
    know yet. So handlers only note signals; the launcher forwards them when it knows all tasks.

    Attributes:
      ending: Whether a signal that ends the job was forwarded.
    """

    def __init__(self) -> None:
        self._received: collections.deque[int] = collections.deque()
        self.ending = False

    @contextlib.contextmanager
    def receive(self) -> Iterator[None]:
        """Notes the signals of this process during the with block."""
        # Only the main thread may handle signals.
        handles = threading.current_thread() is threading.main_thread()
        numbers = (*_ENDING_SIGNALS, *_OTHER_SIGNALS) if handles else ()
        before = {number: signal.signal(number, self._note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def forward(self, tasks: Iterable[TaskProcess]) -> None:
        """Sends the signals that have arrived to tasks; the second ending signal kills them."""
        tasks = list(tasks)
        while self._received:
            number = self._received.popleft()
            kills = self.ending and number in _ENDING_SIGNALS
            for task in tasks:
                task.send(signal.SIGKILL if kills else number)
            self.ending |= number in _ENDING_SIGNALS

    def _note(self, number: int, frame: object) -> None:
        self._received.append(number)


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
