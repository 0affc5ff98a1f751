"""Starts programs as `python` does, without the seconds that importing TensorFlow takes.

    subprocess.run(forked.python("job.py", model_dir))

The command is a small process that represents the program: it has its output, exit code and
signals. The program itself runs in a fork of a server that has imported TensorFlow and this
package already. Forking is safe because the server has only imported TensorFlow, which starts no
threads, and never uses it; a program that asks what an import does needs `sys.executable`.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from processes import run_process

ADDRESS = "TESTS_FORK_SERVER"
_HERE = Path(__file__).parent


def python(*arguments: object) -> list[str]:
    """Returns the command for a program; of Python's flags only -c and -m are possible."""
    client = str(_HERE / "fork_client.py")
    # Isolated and without site-packages: in a few milliseconds.
    return [sys.executable, "-IS", client, find_address(), *map(str, arguments)]


def printed(*arguments: object, **variables: str) -> Any:
    """Returns the JSON value in the last line that a program prints.

    Args:
      *arguments: As for `python`.
      **variables: Of its environment.
    """
    done = run_process(python(*arguments), **variables)
    return json.loads(done.stdout.splitlines()[-1])


@functools.cache
def find_address() -> str:
    """Returns the path of the server's socket; starts a server that ends with this process.

    xdist's workers share the server that the process of pytest has started (`conftest.py`).
    """
    if ADDRESS in os.environ:
        return os.environ[ADDRESS]
    # Not the test's own directory, whose name is too long for a socket's.
    address = os.path.join(tempfile.mkdtemp(), "forks")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, str(_HERE / "fork_server.py"), str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
    _servers.append(server)
    return address


_servers: list[subprocess.Popen[bytes]] = []  # Each ends when its input does.
