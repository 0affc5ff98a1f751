"""How many of N starts of a cluster's job succeed on a busy machine, and how soon.

`python tests/chaos/starts.py JOB N BUSY [--together=K] [--forked]` starts all tasks of a job at the
same moment, N times, while BUSY processes each keep a core busy. K starts (default 1) run at the
same time, each a separate cluster, which adds to the load. With --forked the tasks are forks of a
process that has imported TensorFlow, so that they begin closer together than processes that import
it. A start succeeds when every training task ends with code 0 within 300 s. The script prints
a line for each start, with the seconds to the first step (from the chief's history.jsonl) and to
the end, and then a line of JSON.

JOB is one of
  old       two synchronous workers, a program of TensorFlow 1 under `estimator-train run --tf1`
  modern    the same in today's names: a chief and a worker, MultiWorkerMirroredStrategy
  ps        a chief, two workers and a parameter server
  callbacks a chief and a worker with Keras callbacks
or, for comparison, one process without a cluster:
  old_alone, modern_alone
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import forked

from estimator_train.launcher.network import find_free_addresses

TESTS = Path(__file__).parents[1]
LIMIT_SECS = 300.0
RUN = ["-m", "estimator_train", "run", "--tf1"]
# The tasks of a job, and the program of each.
JOBS = {
    "old": (["worker", "worker"], [*RUN, str(TESTS / "chaos/old_two_workers.py"), "{dir}"]),
    "modern": (["chief", "worker"], [str(TESTS / "distribute/keras_job.py"), "{dir}", "20"]),
    "ps": (
        ["chief", "worker", "worker", "ps"],
        [str(TESTS / "distribute/linear_job.py"), "{dir}", "60"],
    ),
    "callbacks": (
        ["chief", "worker"],
        [str(TESTS / "keras/callbacks_job.py"), "{dir}", "whole"],
    ),
}
JOBS |= {f"{name}_alone": ([], JOBS[name][1]) for name in ("old", "modern")}


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keeps so many cores busy, each with one process, inside the context."""
    spin = [sys.executable, "-c", "while True: pass"]
    # Linux divides the cores among sessions first, and each task of a job has its own session.
    processes = [subprocess.Popen(spin, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@dataclasses.dataclass(frozen=True)
class Start:
    """What became of a start.

    Attributes:
      codes: The exit codes of the tasks; None of one that had not ended within the limit.
      first_step_secs: Seconds until the first step, None where there was none.
      secs: Seconds until all had ended.
    """

    codes: list[int | None]
    first_step_secs: float | None
    secs: float

    @property
    def came_up(self) -> bool:
        """Whether all ended well, after a first step."""
        return set(self.codes) == {0} and self.first_step_secs is not None


def environments_of(tasks: Sequence[str]) -> list[dict[str, str]]:
    """Returns each task's environment."""
    paths = [str(TESTS.parent), str(TESTS / "support"), str(TESTS / "distribute")]
    shared = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "STRATEGY": "none" if not tasks else "" if "ps" in tasks else "multi_worker",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }
    cluster: dict[str, list[str]] = {}
    places = []
    for job, address in zip(tasks, find_free_addresses(len(tasks)), strict=True):
        places.append({"type": job, "index": len(cluster.setdefault(job, []))})
        cluster[job].append(address)
    configs = [json.dumps({"cluster": cluster, "task": place}) for place in places]
    return [{**shared, "TF_CONFIG": config} for config in configs] or [shared]


def start(name: str, python: Callable[..., list[str]], directory: Path) -> Start:
    """Starts a job once; `command` makes the command line from its arguments."""
    tasks, arguments = JOBS[name]
    model_dir = directory / "model"
    command = python(*(part.format(dir=model_dir) for part in arguments))
    began, clock = time.monotonic(), time.time()
    processes = []
    for number, environment in enumerate(environments_of(tasks)):
        with open(directory / f"{number}.log", "w") as log:
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
    histories = model_dir.rglob("history.jsonl")
    lines = [line for path in histories for line in path.read_text(encoding="utf-8").splitlines()]
    times = [row["time"] for row in map(json.loads, lines) if "loss" in row]
    first_step_secs = times[0] - clock if times else None
    return Start(codes, first_step_secs, time.monotonic() - began)


def observed(name: str, python: Callable[..., list[str]], number: int) -> Start:
    """Starts a job once and returns its outcome."""
    with tempfile.TemporaryDirectory() as directory:
        found = start(name, python, Path(directory))
        first = f"{found.first_step_secs:.1f}" if found.first_step_secs else "no"
        print(f"start {number}: {found.codes} first step {first}, {found.secs:.1f} s", flush=True)
        if not found.came_up:
            for log in sorted(Path(directory).glob("*.log")):
                print(f"-- {log.name}\n{log.read_text()[-1000:]}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("starts", type=int)
    parser.add_argument("busy", type=int)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--forked", action="store_true")
    asked = parser.parse_args()
    python = forked.python if asked.forked else lambda *arguments: [sys.executable, *arguments]
    with busy(asked.busy), ThreadPoolExecutor(asked.together) as pool:
        found = list(pool.map(partial(observed, asked.job, python), range(asked.starts)))
    up = [one for one in found if one.came_up]
    figures = {
        "first step": [one.first_step_secs for one in up],
        "all": [one.secs for one in up],
    }
    medians = {
        name: {"median": round(statistics.median(secs), 1), "longest": round(max(secs), 1)}
        for name, secs in figures.items()
        if secs
    }
    print(json.dumps({**vars(asked), "came up": len(up), **medians}))


if __name__ == "__main__":
    main()
