"""A process that kills the processes of a job when their launcher dies."""

import contextlib
import subprocess
import sys
from typing import IO

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
