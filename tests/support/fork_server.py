"""Forks programs off a process that has imported TensorFlow: `fork_server.py LISTENER`.

LISTENER is the descriptor of a socket to which clients (`fork_client.py`) connect. The server ends
with its standard input, and every program with its client or with the server.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import dataclasses
import gc
import json
import os
import random
import select
import signal
import socket
import struct
import sys
import threading
import types
from typing import Any

_PR_SET_PDEATHSIG = 1


@dataclasses.dataclass
class Client:
    """A connection and its forked program."""

    connection: socket.socket
    pid: int


class Server:
    """Forks a program for each client, until it is the program of one."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._clients: dict[int, Client] = {}
        # A signal makes `select` return, by a byte in this pipe.
        self._ended, self._wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        signal.set_wakeup_fd(self._wakeup)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def serve(self) -> dict[str, Any] | None:
        """Returns the job in the process that is to run it, and None in the server at its end."""
        while True:
            clients = dict(self._clients)
            sources = [0, self._ended, self._listener.fileno(), *clients]
            for source in select.select(sources, [], [])[0]:
                if source == 0:
                    return None
                if source == self._ended:
                    os.read(source, 1024)
                    self._report_ended()
                elif source == self._listener.fileno():
                    connection, _ = self._listener.accept()
                    job = self._fork(connection)
                    if job:
                        return job
                elif self._clients.get(source) is clients[source]:  # Not a new one of its number.
                    self._pass_on(clients[source])

    def _fork(self, connection: socket.socket) -> dict[str, Any] | None:
        size, outputs, _, _ = socket.recv_fds(connection, 4, 3)
        text = receive(connection, *struct.unpack("=I", size)) if size else b""
        server = os.getpid()
        pid = os.fork() if text else 0
        if pid or not text:
            for output in outputs:
                os.close(output)
            if not text:
                return connection.close()  # The client was killed before it sent its job.
            self._clients[connection.fileno()] = Client(connection, pid)
            return None
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number, output in enumerate(outputs):
            os.dup2(output, number)
            os.close(output)
        for client in self._clients.values():
            client.connection.close()
        for descriptor in (self._ended, self._wakeup):
            os.close(descriptor)
        self._listener.close()
        connection.close()
        return dict(json.loads(text))

    def _pass_on(self, client: Client) -> None:
        """Sends a program the signals that its client had, of which the last is its own end."""
        numbers = b""
        with contextlib.suppress(ConnectionResetError):
            numbers = client.connection.recv(1024)
        for number in numbers:
            os.kill(client.pid, number)
        if numbers:
            return
        with contextlib.suppress(ProcessLookupError):  # A new one has no group yet.
            os.killpg(client.pid, signal.SIGKILL)
        os.kill(client.pid, signal.SIGKILL)
        os.waitpid(client.pid, 0)
        self._forget(client)

    def _report_ended(self) -> None:
        for client in [*self._clients.values()]:
            pid, status = os.waitpid(client.pid, os.WNOHANG)
            if pid:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    code = struct.pack("=i", os.waitstatus_to_exitcode(status))
                    client.connection.sendall(code)
                self._forget(client)

    def _forget(self, client: Client) -> None:
        del self._clients[client.connection.fileno()]
        client.connection.close()


def receive(connection: socket.socket, length: int) -> bytes:
    """Returns so many bytes; none if the other side ends before it has sent them.

    A signal may end one call of `recv` early, in spite of MSG_WAITALL.
    """
    text = b""
    while len(text) < length:
        part = connection.recv(length - len(text))
        if not part:
            return b""
        text += part
    return text


def exit_code(job: dict[str, Any]) -> int:
    """Runs a program, and tells with which code the interpreter would end."""
    try:
        try:
            run(job)
        except Exception:
            sys.excepthook(*sys.exc_info())  # It may choose another exit code.
            return 1
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def end(code: int) -> None:
    """Ends this process as the interpreter would, but for taking each module apart."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(job: dict[str, Any]) -> None:
    """Runs a program in this process."""
    os.chdir(job["directory"])
    os.environ.clear()
    os.environ.update(job["environment"])
    import numpy as np

    from estimator_train.cluster import launched

    # The import of the package does this if a variable is set.
    launched.end_mistakes_with_code_2()
    random.seed()
    np.random.seed()
    # By lines, so that nothing that another thread logs comes between the words of one `print`.
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdout.reconfigure(line_buffering=unbuffered)  # type: ignore[union-attr]
    first, *arguments = job["arguments"]
    path = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    sys.path[1:1] = [one for one in path if one not in sys.path[1:]]  # The first is replaced below.
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    if first == "-m":
        import runpy

        sys.path[0] = os.getcwd()
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    if first == "-c":
        sys.argv, sys.path[0] = ["-c", *arguments[1:]], ""
        code = compile(arguments[0], "<string>", "exec")
    else:
        sys.argv, sys.path[0] = job["arguments"], os.path.dirname(os.path.abspath(first))
        main.__file__ = first
        with open(first, "rb") as file:
            code = compile(file.read(), first, "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    gc.disable()  # Imports free nothing.
    import tensorflow  # noqa: F401
    import tf_keras  # noqa: F401

    import estimator_train.cli.main
    import estimator_train.compat.v1  # noqa: F401

    gc.collect()
    gc.freeze()  # No program's garbage collector visits the shared objects.
    gc.enable()
    found = Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if found is not None:
        end(exit_code(found))
