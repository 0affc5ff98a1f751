"""What each wait for another process does when that process is stopped: `stopped.py [TRIAL ...]`.

For each wait of docs/distribution.md a cluster is started whose one task stops itself (SIGSTOP) at
the moment that the wait is for. It prints a line of JSON for each: after how many seconds the task
that waits said so, how it ended, and the exit codes of all tasks when all are started again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from estimator_train.launcher.network import ReservedAddresses

TESTS = Path(__file__).parents[1]
ASYNC, SYNC = ("chief:0", "worker:0", "ps:0"), ("worker:0", "worker:1")
LIMIT_SECS, STEPS = 45, 20


@dataclasses.dataclass(frozen=True)
class Trial:
    """A task that stops at some moment, and the task whose wait is observed.

    Attributes:
      tasks: Of the cluster.
      stop: The task and the moment, as stopping_job.py has them.
      waits: The task that waits for the stopped one.
      says: What its line has to hold.
      code: Exit code of the waiting task; None if another wait ends it.
    """

    tasks: tuple[str, ...]
    stop: str
    waits: str
    says: str
    code: int | None


TRIALS = {
    "servers start": Trial(ASYNC, "ps:0@import", "chief:0", "to start", 1),
    # TensorFlow's own wait, in the constructor of the strategy, of an hour.
    "workers' servers start": Trial(SYNC, "worker:1@import", "worker:0", "tasks to connect", None),
    "the chief initializes": Trial(ASYNC, "chief:0@model", "worker:0", "to initialize", 1),
    "the ps answers": Trial(ASYNC, "ps:0@asked", "chief:0", "ps:0", 143),
    "the others' sessions": Trial(SYNC, "worker:1@model", "worker:0", "worker:1", 143),
    "votes on input": Trial(SYNC, "worker:1@created", "worker:0", "worker", 143),
    "a step": Trial(SYNC, "worker:1@step", "worker:0", "worker", 142),
    "the chief's last checkpoint": Trial(SYNC, "worker:0@saving", "worker:1", "checkpoint", 0),
    "the chief's next checkpoint": Trial(ASYNC, "chief:0@step", "worker:0", "checkpoint", None),
    "the trainers' end": Trial(ASYNC, "chief:0@step", "ps:0", "to end", 1),
    "the next checkpoint": Trial((*ASYNC, "evaluator:0"), "chief:0@step", "evaluator:0", "", None),
}


class Job:
    """The tasks of a trial, each a process with a separate log.

    Args:
      trial: Which.
      directory: Where the model and the logs are.
    """

    def __init__(self, trial: Trial, directory: Path) -> None:
        self._trial, self._directory = trial, directory
        cluster: dict[str, list[str]] = {}
        self.reserved = ReservedAddresses(len(trial.tasks))
        for task, address in zip(trial.tasks, self.reserved.addresses, strict=True):
            if not task.startswith("evaluator"):
                cluster.setdefault(task.partition(":")[0], []).append(address)
        self._cluster = cluster
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, stop: str = "@") -> None:
        """Starts all tasks."""
        for task in self._trial.tasks:
            job, index = task.split(":")
            place = {"cluster": self._cluster, "task": {"type": job, "index": int(index)}}
            paths = [str(TESTS.parent), str(TESTS / "distribute")]
            variables = {
                "TF_CONFIG": json.dumps(place),
                "PYTHONPATH": os.pathsep.join(paths),
                "STOP": stop,
                "STRATEGY": "multi_worker" if self._trial.tasks == SYNC else "",
                "LIMIT_SECS": str(LIMIT_SECS),
            }
            command = [sys.executable, str(TESTS / "chaos" / "stopping_job.py")]
            with self.log(task).open("wb") as log:
                self.running[task] = subprocess.Popen(
                    [*command, str(self._directory / "model"), str(STEPS)],
                    env={**os.environ, **variables},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    # A stopped process can bring SIGHUP to all processes of its group.
                    start_new_session=True,
                )

    def log(self, task: str) -> Path:
        return self._directory / f"{task.replace(':', '-')}.log"

    def is_stopped(self, task: str) -> bool:
        status = Path(f"/proc/{self.running[task].pid}/status").read_text()
        return "State:\tT" in status

    def codes(self, timeout: float) -> dict[str, int | None]:
        """Exit codes of all tasks; None of one that does not end in time."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and any(one.poll() is None for one in self.running.values()):
            time.sleep(0.2)
        return {task: process.poll() for task, process in self.running.items()}

    def kill(self) -> None:
        for process in self.running.values():
            process.send_signal(signal.SIGKILL)
            process.wait()


def outcome(trial: Trial, directory: Path) -> dict[str, object]:
    """Stops the task, and observes the task that waits."""
    job = Job(trial, directory)
    stopped = trial.stop.partition("@")[0]
    try:
        job.start(trial.stop)
        deadline = time.monotonic() + 120
        while not job.is_stopped(stopped):
            if time.monotonic() > deadline:
                return {"error": f"{stopped} did not stop", "said": last_lines(job, stopped)}
            time.sleep(0.05)
        began, said = time.monotonic(), None
        waiting = job.running[trial.waits]
        while waiting.poll() is None and time.monotonic() - began < 3 * LIMIT_SECS:
            if said is None and any(trial.says in line for line in waits(job, trial.waits)):
                said = round(time.monotonic() - began, 1)
            time.sleep(0.1)
        ended = round(time.monotonic() - began, 1)
        lines = waits(job, trial.waits)
        first = {"said after": said, "ended after": ended, "code": waiting.poll()}
        if said is None:
            print(last_lines(job, trial.waits), file=sys.stderr)
    finally:
        job.kill()
    job.start()
    again = job.codes(180)
    job.kill()
    job.reserved.release()
    return {**first, "line": lines[-1:], "again": again}


def waits(job: Job, task: str) -> list[str]:
    """Returns the lines of a task's log about a wait or a missing task."""
    text = job.log(task).read_text(errors="replace")
    return [line for line in text.splitlines() if "ait" in line or "Exiting" in line]


def last_lines(job: Job, task: str) -> str:
    return job.log(task).read_text(errors="replace")[-1500:]


def main() -> None:
    for name in sys.argv[1:] or TRIALS:
        with tempfile.TemporaryDirectory() as directory:
            found = outcome(TRIALS[name], Path(directory))
        print(json.dumps({"trial": name, "expected": TRIALS[name].code, **found}), flush=True)


if __name__ == "__main__":
    main()
