"""Shows how a worker of xdist ended, and its stacks, if the interpreter crashed in it.

xdist itself says only which test ran. Errors of TensorFlow's C++ in that test are lost with the
captured output.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

# The environment variable that tells workers where to write their stacks.
_FOLDER = "TESTS_CRASHES"
_WAIT_SECS = 30.0
# Packages that run the tests; their frames are in every stack.
_RUNNERS = ("/_pytest/", "/pluggy/", "/xdist/", "/execnet/")


def share_folder() -> None:
    """Chooses the folder of the stacks, in the process that starts the workers."""
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="crashes-")
    atexit.register(shutil.rmtree, os.environ[_FOLDER], ignore_errors=True)


class StacksOfWorker:
    """Plugin of a worker: writes the stacks of all threads to a file at a crash."""

    def __init__(self, worker: str) -> None:
        self._file = Path(os.environ[_FOLDER], worker).open("w")  # noqa: SIM115 - until the end

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Replaces the standard error, to which pytest lets the stacks be written."""
        faulthandler.enable(self._file)


class CrashReports:
    """Plugin of the process that started the workers: adds to the report of a crash."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, report: pytest.TestReport) -> None:
        """Adds the exit code and the stacks of the worker."""
        gateway = report.node.gateway  # type: ignore[attr-defined]
        # execnet's object of the worker's process: no public name gives its exit code.
        process: subprocess.Popen[bytes] = gateway._io.popen
        try:
            ended = f"it ended with {process.wait(_WAIT_SECS)}"
        except subprocess.TimeoutExpired:
            ended = f"it still runs {_WAIT_SECS:g} s later"
        path = Path(os.environ[_FOLDER], gateway.id)
        lines = path.read_text().splitlines() if path.exists() else []
        stacks = [line for line in lines if not line.startswith("Extension modules")]
        stacks = [line for line in stacks if not any(name in line for name in _RUNNERS)]
        report.longrepr = "\n".join([f"{report.longrepr}; {ended}", *stacks])
