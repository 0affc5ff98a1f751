"""Standby process of a launched job, from which killed tasks start again without imports."""

import contextlib
import ctypes
import dataclasses
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from estimator_train.launcher.process import Guard
from estimator_train.launcher.python_program import parse_command

_SERVER = "from estimator_train.launcher.standby_server import main; main()"
_REPLY_SECS = 5.0
_MAX_BYTES = 1 << 16
_PR_SET_CHILD_SUBREAPER = 36
_OPT_OUT = "A killed task starts as a new process. --nostandby avoids this message."


class ForkedProcess:
    """Task that the standby process forked; this process is its parent.

    Args:
      pid: Its process number.
      output: Descriptor of the end of a pipe from which its output is read.
    """

    def __init__(self, pid: int, output: int) -> None:
        self.pid = pid
        self.stdout = open(output, "rb")  # noqa: SIM115
        self._code: int | None = None

    def poll(self) -> int | None:
        """Returns None while the process runs, then its exit code, -N if signal N ended it."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Waits for the end of the process and returns its exit code."""
        return self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self._code is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, options)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code


class Standby:
    """Process that has imported the packages of a program and forks tasks of it.

    It is optional: if it cannot start, refuses the program or dies, tasks start as new processes.

    Args:
      command: The program and its arguments.
      environment: Environment variables that all tasks have, beside those of this process.
      guard: Kills the process if the launcher dies.
      log: Logs one line.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        guard: Guard,
        log: Callable[[str], None],
    ) -> None:
        self._guard, self._log = guard, log
        self._connection: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        program = parse_command(command)
        if program is None or not _become_parent_of_orphans():
            return
        self._connection, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        described = json.dumps(dataclasses.asdict(program))
        with remote, contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [*program.interpreter, "-c", _SERVER, str(remote.fileno()), described],
                env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[remote.fileno()],
                start_new_session=True,
            )
            guard.add(self._process.pid)

    def start_task(self, environment: Mapping[str, str]) -> ForkedProcess | None:
        """Forks a task; returns None if the process is not ready.

        Args:
          environment: Environment variables of the task.
        """
        self.poll()
        if not self._is_ready or self._connection is None:
            return None
        reader, writer = os.pipe()
        accepted, accept = os.pipe()
        try:
            message = json.dumps(dict(environment)).encode()
            socket.send_fds(self._connection, [message], [writer, accepted])
            reply = self._receive(_REPLY_SECS)
        except OSError:
            reply = None
        finally:
            os.close(writer)
            os.close(accepted)
        # A task waits for this byte: one that nobody would end does not begin.
        with open(accept, "wb", buffering=0) as pipe, contextlib.suppress(BrokenPipeError):
            if reply is not None and "pid" in reply:
                self._guard.add(int(reply["pid"]))
                pipe.write(b"1")
        if reply is None or "pid" not in reply:
            os.close(reader)
            self._give_up("The standby process has ended")
            return None
        return ForkedProcess(int(reply["pid"]), reader)

    def poll(self) -> None:
        """Follows the state of the process, and logs once if it cannot be used."""
        if self._connection is None or (self._is_ready and not self._has_ended()):
            return
        reply = None if self._is_ready else self._receive(0)
        if reply is not None and "refused" in reply:
            self._give_up(f"There is no standby process: {reply['refused']}")
        elif reply is not None:
            self._is_ready = True
        elif self._has_ended():
            self._give_up("The standby process has ended")

    def close(self) -> None:
        """Ends the process; tasks that it forked go on."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._guard.remove(self._process.pid)
            self._process = None

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _give_up(self, why: str) -> None:
        self._log(f"{why}. {_OPT_OUT}")
        self.close()

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        """Returns a message of the process; None if none arrives in time or it has ended."""
        assert self._connection is not None
        if not select.select([self._connection], [], [], seconds)[0]:
            return None
        message = self._connection.recv(_MAX_BYTES)
        return dict(json.loads(message)) if message else None


def _become_parent_of_orphans() -> bool:
    """Makes this process the parent of tasks whose own parent has ended; False if it cannot."""
    if not sys.platform.startswith("linux"):
        return False
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    return prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
