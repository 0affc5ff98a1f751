"""Processes of a cluster on this machine: their output, their child processes, their end.

The launcher forwards signals to them. A guard kills them when the launcher dies.
"""

import collections
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
