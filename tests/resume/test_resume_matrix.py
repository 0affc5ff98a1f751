"""Resumed jobs against unbroken ones: each strategy, kind of estimator and way to resume.

The second tier has a third of the cells, which the commit chooses; `TESTS_SAMPLE=all` in the
environment has all.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from resume_job import ENDS, latest_step
from resume_kinds import ABSENT, KINDS, STRATEGIES
from tiers import first, of_commit

from estimator_train.launcher.network import ReservedAddresses

_JOB = Path(__file__).with_name("resume_job.py")
_TASKS = {
    "multi_worker": {"worker": 2},
    "ps": {"chief": 1, "ps": 1},
    "ps_strategy": {"chief": 1, "ps": 1},
}
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
CELLS = [(k, s) for s in STRATEGIES for k in KINDS if (k, s) not in ABSENT]
FIRST_TIER = [("model_fn_v1", "mirrored")]
OTHER_CELLS = [cell for cell in CELLS if cell not in FIRST_TIER]


class Job:
    """The processes of one cell of the matrix."""

    def __init__(self, kind: str, strategy: str, directory: Path) -> None:
        self._kind, self._strategy, self._directory = kind, strategy, directory
        counts = _TASKS.get(strategy, {})
        self._reserved = ReservedAddresses(sum(counts.values()))
        self._tasks = _cluster_tasks(counts, self._reserved.addresses)
        self._servers: list[subprocess.Popen[bytes]] = []
        self.resumed = str(directory / "resumed")
        self.unbroken = str(directory / "unbroken")

    @contextlib.contextmanager
    def parameter_servers(self) -> Iterator[None]:
        """Keeps the parameter servers running."""
        self._servers = [self._start(task, "server") for task in self._tasks if '"ps",' in task]
        try:
            yield
        finally:
            for server in self._servers:
                server.kill()
                server.wait()
            self._reserved.release()

    def run(self, stage: str) -> None:
        """Runs all trainers through a stage; checks how they end."""
        trainers = [self._start(task, stage) for task in self._tasks if '"ps",' not in task]
        expected = {"sigterm": 128 + signal.SIGTERM, "sigkill": -signal.SIGKILL}.get(stage, 0)
        # The test kills the other workers: the chief exits if another worker dies first.
        awaited = trainers[:1] if stage == "sigkill" else trainers
        try:
            _wait(awaited, expected, self._servers)
            codes = [trainer.poll() for trainer in awaited]
            assert codes == [expected] * len(awaited), f"{stage}: {codes}\n{self._read_outputs()}"
        finally:
            for trainer in trainers:
                trainer.kill()
                trainer.wait()

    def _read_outputs(self) -> str:
        """Returns the end of what each process printed."""
        paths = sorted(self._directory.glob("*.log"))
        return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in paths)

    def _start(self, task: str, stage: str) -> subprocess.Popen[bytes]:
        arguments = (self._kind, self._strategy, self._directory, latest_step(self.resumed), stage)
        environment = {**os.environ, "TF_CONFIG": task, "TF_CPP_MIN_LOG_LEVEL": "3"}
        # A file, because a process that fills a pipe which nobody reads stops.
        with (self._directory / f"{stage}{self._tasks.index(task)}.log").open("wb") as log:
            return subprocess.Popen(
                forked.python(_JOB, *arguments), env=environment, stdout=log, stderr=log
            )


def _wait(
    processes: Sequence[subprocess.Popen[bytes]],
    expected: int,
    servers: Sequence[subprocess.Popen[bytes]],
) -> None:
    """Waits until all processes have exited, or one with an unexpected code, or a server has."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        codes = [process.poll() for process in processes]
        if None not in codes or set(codes) - {None, expected}:
            return
        if any(server.poll() is not None for server in servers):
            return
        time.sleep(0.05)


def _cluster_tasks(counts: Mapping[str, int], addresses: Sequence[str]) -> list[str]:
    """Returns TF_CONFIG of each task."""
    if not counts:
        return ["{}"]
    free = iter(addresses)
    cluster = {name: [next(free) for _ in range(count)] for name, count in counts.items()}
    return [
        json.dumps({"cluster": cluster, "task": {"type": name, "index": index}})
        for name, count in counts.items()
        for index in range(count)
    ]


def _check_equal(job: Job, steps: Sequence[int]) -> None:
    """Checks all variables of resumed checkpoints against those of the unbroken run."""
    for step in steps:
        expected, actual = (
            tf.train.load_checkpoint(f"{directory}/model.ckpt-{step}")
            for directory in (job.unbroken, job.resumed)
        )
        names = expected.get_variable_to_shape_map().keys()
        assert names == actual.get_variable_to_shape_map().keys()
        for name in names - {_OBJECT_GRAPH}:
            pair = actual.get_tensor(name), expected.get_tensor(name)
            where = f"{name} at step {step}"
            if expected.get_variable_to_dtype_map()[name].is_floating:
                # Threads add gradients in any order.
                np.testing.assert_allclose(*pair, rtol=1e-4, atol=1e-6, err_msg=where)
            else:
                np.testing.assert_array_equal(*pair, where)


@pytest.mark.parametrize(
    ("kind", "strategy"),
    first(FIRST_TIER, [*FIRST_TIER, *of_commit(3, OTHER_CELLS)]),
)
def test_a_resumed_job_equals_an_unbroken_one(tmp_path: Path, kind: str, strategy: str) -> None:
    job = Job(kind, strategy, tmp_path)
    with job.parameter_servers():
        ends = [*ENDS]
        for stage in ("sigterm", "sigkill", "last"):
            job.run(stage)
            ends.append(latest_step(job.resumed))
            assert ends[-1] > ends[-2], stage
        _check_equal(job, ends)
