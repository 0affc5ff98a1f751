"""Clusters that are killed and preempted: `python tests/chaos/cluster.py async|sync KILLS`.

It runs a job in a cluster under the launcher and sends KILLS SIGKILLs to random tasks at random
moments. Then it runs twenty unbroken jobs, and one that SIGTERM ends three times. It prints the
outcomes as JSON. The loss of the killed job must lie within the 99 % prediction interval of the
losses of the unbroken jobs ("loss_is_within").
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cluster_job import SAVE_STEPS
from scipy.stats import t as student_t

ROOT = Path(__file__).parents[2]
TASKS = {
    "async": ("chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0"),
    "sync": ("chief-0", "worker-0", "evaluator-0"),
}
FLAGS = {"async": ("--workers=2", "--ps=1"), "sync": ("--workers=1",)}
MOMENT_SECS = 0.5
UNBROKEN = 20


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A job with a separate directory, which may be started several times."""

    directory: Path
    kind: str

    def start(self, steps: int, restarts: int) -> subprocess.Popen[bytes]:
        launch = [sys.executable, "-m", "estimator_train", "launch", "--evaluator"]
        launch += [*FLAGS[self.kind], f"--max_restarts={restarts}", "--grace_secs=60", "--"]
        job = [sys.executable, str(Path(__file__).with_name("cluster_job.py"))]
        with (self.directory / "output").open("ab") as output:
            return subprocess.Popen(
                [*launch, *job, str(self.directory), self.kind, str(steps)],
                env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
                stdout=output,
                stderr=output,
            )

    @contextlib.contextmanager
    def running(self, steps: int, restarts: int = 0) -> Iterator[subprocess.Popen[bytes]]:
        """Provides a started job, and terminates it at the end."""
        process = self.start(steps, restarts)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def notes(self, task: str) -> list[tuple[str, int, float]]:
        """Yields a task's records: "restored", "start" or "made"; the global step; the time."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            # The last line may be incomplete.
            for line in (self.directory / f"{task}.steps").read_text().split("\n")[:-1]:
                what, step, moment = line.split()
                found.append((what, int(step), float(moment)))
        return found

    def noted(self, task: str = "chief-0") -> list[list[int]]:
        """Returns the global steps that a task saw, for each of its sessions the first it found."""
        found: list[list[int]] = []
        for what, step, _ in self.notes(task):
            if what == "start":
                found.append([step])
            elif what == "made":
                found[-1].append(step)
        return found

    def wait_for(self, step: int, process: subprocess.Popen[bytes], sessions: int = 0) -> bool:
        """Waits for the chief's step in a session after `sessions`; returns False if it ended."""
        while process.poll() is None:
            noted = self.noted()
            if len(noted) > sessions and len(noted[-1]) > 1 and noted[-1][-1] >= step:
                return True
            time.sleep(0.02)
        return False

    def pid(self, task: str) -> int:
        return int((self.directory / f"{task}.pid").read_text())

    def output(self) -> str:
        return (self.directory / "output").read_text()

    def left_behind(self) -> list[str]:
        """Returns the job's processes that still run, and its addresses that are still in use."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if f"cluster_job.py {self.directory} " in command:
                    found.append(command)
        for address in json.loads((self.directory / "addresses").read_text()):
            host, _, port = address.rpartition(":")
            with socket.socket() as one:
                if one.connect_ex((host, int(port))) == 0:
                    found.append(address)
        return found

    def note_addresses(self) -> None:
        """Writes the addresses in the environment of the chief to a file."""
        environment = Path(f"/proc/{self.pid('chief-0')}/environ").read_bytes().decode()
        variables = dict(one.split("=", 1) for one in environment.split("\0") if "=" in one)
        cluster = json.loads(variables["TF_CONFIG"])["cluster"]
        (self.directory / "addresses").write_text(json.dumps(sum(cluster.values(), [])))


def killed(
    cluster: Cluster,
    kills: int,
    moments: random.Random,
    tasks: Sequence[str] = (),
    steps_each: int = 60,
) -> Any:
    """Kills tasks of a job, one after each further `steps_each` steps; returns the outcome."""
    tasks = tasks or TASKS[cluster.kind]
    steps = steps_each * (kills + 1)
    victims = []
    with cluster.running(steps, restarts=2 * kills) as process:
        for number in range(kills):
            at = int((number + moments.random()) * steps_each)
            if not cluster.wait_for(at, process):
                break
            if not number:
                cluster.note_addresses()
            time.sleep(moments.uniform(0, MOMENT_SECS))
            # Each task once before the first is killed again.
            victims.append(tasks[-1 - number % len(tasks)])
            while process.poll() is None and not kill(cluster.pid(victims[-1])):
                time.sleep(0.02)  # The task is restarting.
        code = process.wait()
    return {**outcome(cluster, code), "steps": steps, "victims": victims, "lost": lost(cluster)}


def kill(pid: int) -> bool:
    """Kills a process; returns False if it does not exist."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def lost(cluster: Cluster) -> list[int]:
    """Returns the number of lost steps for each restored checkpoint."""
    notes = sorted(
        (moment, what, step)
        for task in TASKS[cluster.kind]
        for what, step, moment in cluster.notes(task)
        if what == "made" or (what, task) == ("restored", "chief-0")
    )
    found, last = [], 0
    for _, what, step in notes:
        if what == "restored":
            found.append(max(0, last - step))
            last = step
        else:
            last = max(last, step)
    return found


def outcome(cluster: Cluster, code: int) -> dict[str, Any]:
    found = {"code": code, "left_behind": cluster.left_behind()}
    with contextlib.suppress(FileNotFoundError):
        found["metrics"] = json.loads((cluster.directory / "losses").read_text())
    return found


def unbroken(cluster: Cluster, steps: int) -> Any:
    with cluster.running(steps) as process:
        cluster.wait_for(1, process)
        cluster.note_addresses()
        code = process.wait()
    return outcome(cluster, code)


def spread(losses: Sequence[float]) -> list[float]:
    """Returns the limits of Student's 99% prediction interval for another value."""
    mean, count = statistics.mean(losses), len(losses)
    reach = float(student_t.ppf(0.995, count - 1)) * (1 + 1 / count) ** 0.5
    reach *= statistics.stdev(losses)
    return [mean - reach, mean + reach]


def preempted(
    cluster: Cluster, times: int, moments: random.Random, steps_each: int = SAVE_STEPS
) -> Any:
    """Ends a job by SIGTERM to the launcher; returns the exit codes and the step of each task."""
    codes, ends = [], []
    for number in range(times):
        with cluster.running(10**6) as process:
            at = int((number + moments.random()) * steps_each)
            if cluster.wait_for(at, process, sessions=number) and not number:
                cluster.note_addresses()
            process.send_signal(signal.SIGTERM)
            codes.append(process.wait())
        trainers = [task for task in TASKS[cluster.kind] if task.startswith(("chief", "worker"))]
        # A worker may not have opened a session yet.
        ends.append({task: cluster.noted(task)[-1][-1] for task in trainers if cluster.noted(task)})
    starts = [session[0] for session in cluster.noted()]
    return {"codes": codes, "ends": ends, "starts": starts, "left_behind": cluster.left_behind()}


def main() -> None:
    kind, kills = sys.argv[1], int(sys.argv[2])
    moments = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:

        def cluster(name: str) -> Cluster:
            (Path(directory) / name).mkdir()
            return Cluster(Path(directory) / name, kind)

        found = {"killed": killed(cluster("killed"), kills, moments)}
        steps = found["killed"]["steps"]
        found["unbroken"] = [unbroken(cluster(f"unbroken_{n}"), steps) for n in range(UNBROKEN)]
        losses = [one["metrics"]["loss"] for one in found["unbroken"]]
        ends = found["loss_within"] = spread(losses)
        found["loss_is_within"] = ends[0] <= found["killed"]["metrics"]["loss"] <= ends[1]
        found["preempted"] = preempted(cluster("preempted"), 3, moments)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
