"""The click model on a chief, two workers and two parameter servers.

`python -m benchmarks.click_cluster PEER IDS MODEL_DIR WINDOW` runs the task that TF_CONFIG names.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.apis import APIS
from benchmarks.click_job import ClickJob
from benchmarks.meters import make_window_clock
from benchmarks.training.model import WINDOWS, compute_steady_rate
from benchmarks.training.replicas import MARK, read_rate
from estimator_train.launcher.network import find_free_addresses

_TASKS = {"ps": 2, "chief": 1, "worker": 2}


def measure_cluster(peer: str, ids: int, window: int) -> float:
    """Returns the steps per second of all workers together.

    Args:
      peer: The API that trains.
      ids: Number of ids of each feature.
      window: Number of steps in a window, after which the chief reads the time.
    """
    addresses = find_free_addresses(sum(_TASKS.values()))
    cluster = {job: [addresses.pop() for _ in range(count)] for job, count in _TASKS.items()}
    with tempfile.TemporaryDirectory() as model_dir:
        command = [sys.executable, "-m", "benchmarks.click_cluster", peer, str(ids), model_dir]
        running = {
            (job, index): subprocess.Popen(
                [*command, str(window)],
                env={**os.environ, "TF_CONFIG": json.dumps({"cluster": cluster, "task": task})},
                stdout=subprocess.PIPE if job == "chief" else subprocess.DEVNULL,
                stderr=subprocess.PIPE if job == "chief" else subprocess.DEVNULL,
                text=True,
            )
            for job, index, task in _list_tasks()
        }
        try:
            rate = read_rate(running["chief", 0])
            for index in range(_TASKS["worker"]):
                running["worker", index].wait()
        finally:
            # A parameter server of tf.estimator does not end.
            for process in running.values():
                process.kill()
                process.wait()
    return rate


def _list_tasks() -> Iterator[tuple[str, int, dict[str, str | int]]]:
    for job, count in _TASKS.items():
        for index in range(count):
            yield job, index, {"type": job, "index": index}


def main() -> None:
    """Runs a task; the chief prints the steps per second."""
    peer, ids, model_dir, steps = sys.argv[1:]
    job, window, api = ClickJob(int(ids)), int(steps), APIS[peer].estimator
    rows = job.rows()
    clock = make_window_clock(window, os.path.join(model_dir, "clock"))
    estimator = job.estimator(api, model_dir)
    train = api.TrainSpec(
        lambda: job.training_input(rows), max_steps=window * WINDOWS + 1, hooks=[clock]
    )
    api.train_and_evaluate(estimator, train, api.EvalSpec(lambda: job.training_input(rows), 1))
    if estimator.config.is_chief:
        print(MARK, compute_steady_rate(clock.marks, window), flush=True)


if __name__ == "__main__":
    main()
