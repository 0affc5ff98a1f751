"""A cluster on S3 that is killed again and again; each start has new machines with empty disks."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import forked
import pytest
import tensorflow as tf
import tiers

from estimator_train.launcher.network import find_free_addresses

TASK = Path(__file__).with_name("cluster_task.py")
TASKS = (("chief", 0), ("worker", 0), ("evaluator", 0))
WAIT_SECS = 300
# Events are published every 10 s; a publication under load takes some seconds.
LOST_SECS = 30
# By hand, twenty and ten: `CLUSTER_KILLS=20,10 pytest -m long tests/remote/test_cluster_on_s3.py`.
CHOSEN_ROUNDS = os.environ.get("CLUSTER_KILLS")
ROUNDS = {"kill": (2, 0), "term": (0, 2), "both": (1, 1)}


class Cluster:
    """The processes of one start, each with an empty disk.

    Attributes:
      disks: The working directory of each task, by its type.
      processes: The process of each task, by its type.
    """

    def __init__(self, directory, model_dir, steps):
        chief, worker = find_free_addresses(2)
        cluster = {"chief": [chief], "worker": [worker]}
        self.disks, self.processes = {}, {}
        for kind, index in TASKS:
            disk = self.disks[kind] = directory / kind
            disk.mkdir(parents=True)
            task = {"cluster": cluster, "task": {"type": kind, "index": index}}
            variables = {"TF_CONFIG": json.dumps(task), "HOME": str(disk), "TMPDIR": str(disk),
                         "TF_CPP_MIN_LOG_LEVEL": "3"}  # fmt: skip
            with (disk / "log").open("wb") as log:
                self.processes[kind] = subprocess.Popen(
                    forked.python(TASK, model_dir, steps),
                    cwd=disk, env={**os.environ, **variables}, stdout=log, stderr=log,
                )  # fmt: skip

    def send_signal(self, number):
        for process in self.processes.values():
            process.send_signal(number)

    def wait(self):
        """Returns the exit codes of all tasks, whose programs have ended then."""
        codes = [process.wait(WAIT_SECS) for process in self.processes.values()]
        deadline = time.monotonic() + WAIT_SECS
        # A killed program ends a moment after the process that represents it (`forked.py`).
        for number in (disk / "number" for disk in self.disks.values()):
            while number.exists() and Path(f"/proc/{number.read_text()}").exists():
                assert time.monotonic() < deadline, self.read_logs()
                time.sleep(0.05)
        return codes

    def read_logs(self):
        return "\n".join(
            f"{kind}:\n{(disk / 'log').read_text()[-4000:]}" for kind, disk in self.disks.items()
        )

    def read_steps(self):
        """Returns the time of each step of the chief."""
        path = self.disks["chief"] / "steps"
        lines = path.read_text().splitlines() if path.exists() else []
        return {int(line.split()[1]): float(line.split()[0]) for line in lines}


@contextlib.contextmanager
def start(directory, model_dir, steps):
    cluster = Cluster(directory, model_dir, steps)
    try:
        yield cluster
    finally:
        for process in cluster.processes.values():
            process.kill()
            process.wait()


def wait_for_step(store, bucket, cluster, step):
    """Waits for a checkpoint of a step or a later one, and until the evaluator works."""
    deadline = time.monotonic() + WAIT_SECS
    evaluates = cluster.disks["evaluator"] / "evaluates"
    while not evaluates.exists() or store.read_latest_step(bucket, "run") < step:
        codes = [process.poll() for process in cluster.processes.values()]
        assert codes == [None] * len(codes), f"{codes}\n{cluster.read_logs()}"
        assert time.monotonic() < deadline, cluster.read_logs()
        time.sleep(0.2)


def read_event_steps(store, bucket, tmp_path):
    """Returns the steps of the training's events."""
    steps = set()
    for key in store.list_keys(bucket, "run/events"):
        local = tmp_path / "events"
        local.write_bytes(store.read(bucket, key))
        events = tf.compat.v1.train.summary_iterator(str(local))
        steps |= {event.step for event in events if event.HasField("summary")}
    return steps


def count_rounds():
    if CHOSEN_ROUNDS:
        return [tuple(map(int, CHOSEN_ROUNDS.split(",")))]
    return [ROUNDS[name] for name in tiers.of_commit(3, ROUNDS)]


@pytest.mark.long
@pytest.mark.timeout(7200 if CHOSEN_ROUNDS else 600)
@pytest.mark.parametrize(("kills", "terminations"), count_rounds())
def test_a_killed_cluster_loses_only_the_steps_since_the_last_checkpoint(
    store, bucket, tmp_path, kills, terminations
):
    model_dir = f"s3://{bucket}/run"
    numbers = [signal.SIGKILL] * kills + [signal.SIGTERM] * terminations
    seen = {}  # Steps whose events must be in the store, and their times.
    latest = 0  # The last step that was made; hooks do not see the last of all.
    for round_number, number in enumerate(numbers):
        before = store.read_latest_step(bucket, "run")
        with start(tmp_path / str(round_number), model_dir, 1_000_000) as cluster:
            wait_for_step(store, bucket, cluster, before + 40 + 7 * (round_number % 3))
            if round_number % 5 == 0:  # Events become old enough.
                while time.time() - min(cluster.read_steps().values()) < LOST_SECS + 10:
                    time.sleep(0.5)
            time.sleep(0.05 * (round_number % 10))  # Another moment each time.
            killed_at = time.time()
            cluster.send_signal(number)
            codes = cluster.wait()
            steps = cluster.read_steps()
            expected = -9 if number == signal.SIGKILL else 143
            assert codes == [expected] * 3, f"{codes}\n{cluster.read_logs()}"
            # Nothing but the steps after the last checkpoint is repeated. The store may have got
            # one more after the kill.
            assert before <= min(steps) - 1 <= latest, cluster.read_logs()
        saved = store.read_latest_step(bucket, "run")
        latest = max(saved, *steps)
        if number == signal.SIGTERM:
            assert saved >= max(steps)
            seen |= dict.fromkeys(steps, 0.0)
        else:
            assert saved >= max(steps) - 40
            seen |= {step: at for step, at in steps.items() if at < killed_at - LOST_SECS}
    last = store.read_latest_step(bucket, "run") + 30
    with start(tmp_path / "last", model_dir, last) as cluster:
        assert cluster.wait() == [0, 0, 0], cluster.read_logs()
    check_end(store, bucket, tmp_path, last, seen, kills)


def check_end(store, bucket, tmp_path, last, seen, kills):
    keys = store.list_keys(bucket, "run/")
    assert store.read_latest_step(bucket, "run") == last
    indexes = [key for key in keys if re.fullmatch(r"run/model\.ckpt-\d+\.index", key)]
    # TensorFlow writes `checkpoint`, then removes the oldest: a kill between them leaves its files.
    assert len(indexes) <= 2 + kills, keys
    assert [key for key in keys if re.match(r"run/best/.*\.index", key)], keys
    history = [json.loads(line) for key in keys if key.endswith("history.jsonl")
               for line in store.read(bucket, key).splitlines()]  # fmt: skip
    assert history
    assert seen
    missing = set(seen) - read_event_steps(store, bucket, tmp_path)
    assert not missing, sorted(missing)
    assert not [key for key in keys if ".tmp" in key or "tempstate" in key], keys
