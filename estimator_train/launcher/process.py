"""One process of a cluster on this machine, with its output and its child processes."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import TextIO

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_OUTPUT_SECS = 5.0


class TaskProcess:
    """A task's program, in a process group of its own, its output marked with the task's name.

    Args:
      name: The task, as "worker:1".
      command: The program and its arguments.
      environment: Variables beside those of this process.
      out: Where its output goes, both standard output and standard error.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], out: TextIO
    ) -> None:
        self.name = name
        self._out = out
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        self._reader = threading.Thread(target=self._copy_output, name=name, daemon=True)
        self._reader.start()

    def exit_code(self) -> int | None:
        """None while it runs; else its code, 128 + N where signal N ended it, as shells count."""
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def send(self, number: int) -> None:
        """Sends a signal to the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Kills what is left of the process's group, and waits for the end of its output."""
        self.send(signal.SIGKILL)
        self._process.wait()
        self._reader.join(_OUTPUT_SECS)

    def _copy_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                text = line.decode(errors="replace").rstrip("\r\n")
                # In one piece, since other tasks write as well.
                with contextlib.suppress(BrokenPipeError, ValueError):
                    self._out.write(f"[{self.name}] {text}\n")
                    self._out.flush()


def _die_with_parent() -> None:
    """Has the system kill this process when its parent dies, where the system can."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
