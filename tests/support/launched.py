"""Runs `estimator-train launch` in a test: its output by task, and no process remains."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import bound
import forked

ROOT = Path(__file__).parents[2]
_JOBS = ROOT / "tests" / "distribute"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Result of a launch: exit code and output."""

    code: int
    text: str

    def lines(self, name: str) -> list[str]:
        """Returns the output of one task, as "worker:0", or of the launcher itself, "launch"."""
        mark = f"[{name}] "
        return [line.removeprefix(mark) for line in self.text.splitlines() if line.startswith(mark)]


def start(arguments: Sequence[str], program: Sequence[str]) -> subprocess.Popen[str]:
    """Starts the launcher, which is killed if this process dies; it then kills its tasks."""
    return _start_python(["-m", "estimator_train", "launch", *arguments, "--", *program])


def start_python(code: str) -> subprocess.Popen[str]:
    """Starts code that launches, as `start` starts the launcher."""
    return _start_python(["-c", code])


def _start_python(arguments: Sequence[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("TF_CONFIG", None)
    return subprocess.Popen(
        bound.command([sys.executable, *arguments]),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], timeout: float) -> Outcome:
    try:
        text, _ = process.communicate(timeout=timeout)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return Outcome(process.returncode, text)


def finish_all(
    processes: Mapping[str, subprocess.Popen[str]], timeout: float
) -> dict[str, Outcome]:
    """Waits for the ends of all processes; kills all if one does not end in time."""
    try:
        return {name: finish(process, timeout) for name, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()


def launched(arguments: Sequence[str], program: Sequence[str], timeout: float = 500) -> Outcome:
    return finish(start(arguments, program), timeout)


def run_tasks(
    cluster: Mapping[str, Sequence[str]], tasks: Sequence[str], program: Sequence[str], **more: str
) -> dict[str, Outcome]:
    """Runs these tasks ("ps:0") of a cluster without the launcher, each to its own end."""
    running = {}
    for name in tasks:
        job, index = name.split(":")
        place = {"cluster": cluster, "task": {"type": job, "index": int(index)}}
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **more}
        running[name] = subprocess.Popen(
            program,
            env={**environment, "TF_CONFIG": json.dumps(place)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    return finish_all(running, 500)


def python(script: str, *arguments: object) -> list[str]:
    """Returns the command for a script among the cluster jobs."""
    return forked.python(_JOBS / script, *arguments)


def numbers_after(word: str, lines: Sequence[str]) -> list[float]:
    """Returns the numbers of the last line that has this word, those that follow it."""
    line = [line for line in lines if word in line][-1]
    return [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", line.split(word, 1)[1])]


def processes_with(text: str) -> list[str]:
    """Command lines of the processes that have this text among their arguments or environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_bytes().decode(errors="replace").replace("\0", " ")
            if text in command and int(path.parent.name) != os.getpid():
                found.append(command)
    return found
