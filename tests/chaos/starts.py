"""How many of N starts of a cluster's job come up beside busy processes, and how soon.

`python tests/chaos/starts.py JOB N BUSY [TOGETHER]` starts all tasks of a job at the same moment, N
times, beside BUSY processes that do nothing but take a core each. TOGETHER (1) starts are under way
at a time, each a cluster of its own, so that the others are a load as well. A start comes up when
every task that trains ends well within 300 s. It prints a line for each start, and then a line of
JSON. The tasks are forked off a process that has imported TensorFlow, and so begin closer together
than processes that import it themselves.

JOB is one of
  old       two synchronous workers, a program of TensorFlow 1 under `estimator-train run --tf1`
  modern    the same in today's names: a chief and a worker, MultiWorkerMirroredStrategy
  ps        a chief, two workers and a parameter server
  callbacks a chief and a worker with Keras callbacks
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import forked

from estimator_train.launcher.ports import free_addresses

TESTS = Path(__file__).parents[1]
LIMIT_SECS = 300.0
RUN = ["-m", "estimator_train", "run", "--tf1"]
# The tasks of a job, and what each of them runs.
JOBS = {
    "old": (["worker", "worker"], [*RUN, str(TESTS / "chaos/old_two_workers.py"), "{dir}"]),
    "modern": (["chief", "worker"], [str(TESTS / "distribute/keras_job.py"), "{dir}", "20"]),
    "ps": (
        ["chief", "worker", "worker", "ps"],
        [str(TESTS / "distribute/linear_job.py"), "{dir}", "60"],
    ),
    "callbacks": (["chief", "worker"], [str(TESTS / "keras/callbacks/callbacks_job.py"), "{dir}"]),
}


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Within it so many processes do nothing but take a core each."""
    spin = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(spin) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def environment_of(cluster: Mapping[str, list[str]], job: str, index: int) -> dict[str, str]:
    """What one task finds in its environment."""
    place = {"cluster": cluster, "task": {"type": job, "index": index}}
    paths = [str(TESTS.parent), str(TESTS / "support"), str(TESTS / "distribute")]
    return {
        **os.environ,
        "TF_CONFIG": json.dumps(place),
        "PYTHONPATH": os.pathsep.join(paths),
        "STRATEGY": "multi_worker" if "ps" not in cluster else "",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def start(name: str, directory: Path) -> tuple[list[int | None], float]:
    """Starts a job once; returns the exit codes (None: not within the limit) and the seconds."""
    tasks, arguments = JOBS[name]
    cluster: dict[str, list[str]] = {}
    places = []
    for job, address in zip(tasks, free_addresses(len(tasks)), strict=True):
        places.append((job, len(cluster.setdefault(job, []))))
        cluster[job].append(address)
    command = forked.python(*(part.format(dir=directory / "model") for part in arguments))
    began = time.monotonic()
    processes = []
    for job, index in places:
        with open(directory / f"{job}-{index}.log", "w") as log:
            environment = environment_of(cluster, job, index)
            processes.append(
                subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            )
    codes: list[int | None] = []
    for process in processes:
        left = max(0.1, began + LIMIT_SECS - time.monotonic())
        try:
            codes.append(process.wait(left))
        except subprocess.TimeoutExpired:
            codes.append(None)
    for process in processes:
        process.kill()
        process.wait()
    return codes, time.monotonic() - began


def observed_start(name: str, number: int) -> float | None:
    """Starts a job once and says what became of it; returns the seconds where it came up."""
    with tempfile.TemporaryDirectory() as directory:
        codes, secs = start(name, Path(directory))
        print(f"start {number}: {codes} {secs:.1f} s", flush=True)
        if set(codes) == {0}:
            return secs
        for log in sorted(Path(directory).glob("*.log")):
            print(f"-- {log.name}\n{log.read_text()[-1000:]}", flush=True)
    return None


def main() -> None:
    name, times, load = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    together = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with busy(load), ThreadPoolExecutor(together) as pool:
        seconds = pool.map(functools.partial(observed_start, name), range(times))
        came_up = [secs for secs in seconds if secs is not None]
    result = {"job": name, "busy": load, "together": together, "starts": times}
    median = round(statistics.median(came_up), 1) if came_up else None
    longest = round(max(came_up), 1) if came_up else None
    print(json.dumps({**result, "came up": len(came_up), "median": median, "longest": longest}))


if __name__ == "__main__":
    main()
