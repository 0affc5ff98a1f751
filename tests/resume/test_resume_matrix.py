"""Resumed jobs against unbroken ones: each strategy, kind of estimator and way to resume."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from resume_job import CLUSTERS, ENDS, latest_step
from resume_kinds import ABSENT, KINDS, STRATEGIES
from tiers import first, sampled

_JOB = Path(__file__).with_name("resume_job.py")
_TASKS = {
    "multi_worker": {"worker": 2},
    "ps": {"chief": 1, "ps": 1},
    "ps_strategy": {"chief": 1, "ps": 1},
}
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
CELLS = [(k, s) for s in STRATEGIES for k in KINDS if (k, s) not in ABSENT]
FIRST_TIER = [("keras_checkpoint_new", "mirrored")]
# A cell starts four to nine processes: the second tier runs a quarter of them, BREADTH=all all.
ASKED = list(dict.fromkeys([*FIRST_TIER, *sampled(4, CELLS)]))


class Job:
    """The processes of one cell of the matrix."""

    def __init__(self, kind: str, strategy: str, directory: Path) -> None:
        self._kind, self._strategy, self._directory = kind, strategy, directory
        self._tasks = _cluster_tasks(strategy)
        self.resumed = str(directory / "resumed")
        self.unbroken = str(directory / "unbroken")

    @contextlib.contextmanager
    def parameter_servers(self) -> Iterator[None]:
        """Keeps the parameter servers running."""
        servers = [self._start(task, "server") for task in self._tasks if '"ps",' in task]
        try:
            yield
        finally:
            for server in servers:
                server.kill()
                server.communicate()

    def run(self, stage: str) -> None:
        """Runs all trainers through a stage; checks how they end."""
        trainers = [self._start(task, stage) for task in self._tasks if '"ps",' not in task]
        try:
            for number, trainer in enumerate(trainers):
                if stage == "sigkill" and number:
                    continue  # Killed below: it waits for the chief.
                output, _ = trainer.communicate(timeout=300)
                expected = {"sigterm": 128 + signal.SIGTERM, "sigkill": -signal.SIGKILL}
                assert trainer.returncode == expected.get(stage, 0), f"{stage}: {output[-3000:]}"
        finally:
            for trainer in trainers:
                trainer.kill()
                trainer.communicate()

    def _start(self, task: str, stage: str) -> subprocess.Popen[str]:
        arguments = (self._kind, self._strategy, self._directory, latest_step(self.resumed), stage)
        environment = {**os.environ, "TF_CONFIG": task, "TF_CPP_MIN_LOG_LEVEL": "3"}
        return subprocess.Popen(
            forked.python(_JOB, *arguments),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def _cluster_tasks(strategy: str) -> list[str]:
    """Returns TF_CONFIG of each task."""
    if strategy not in CLUSTERS:
        return ["{}"]
    with contextlib.ExitStack() as stack:
        cluster: dict[str, list[str]] = {}
        for name, count in _TASKS[strategy].items():
            sockets = [
                stack.enter_context(socket.create_server(("localhost", 0))) for _ in range(count)
            ]
            cluster[name] = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    return [
        json.dumps({"cluster": cluster, "task": {"type": name, "index": index}})
        for name, addresses in cluster.items()
        for index in range(len(addresses))
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
                np.testing.assert_allclose(*pair, rtol=1e-4, atol=1e-9, err_msg=where)
            else:
                np.testing.assert_array_equal(*pair, where)


@pytest.mark.parametrize(("kind", "strategy"), first(FIRST_TIER, ASKED))
def test_a_resumed_job_equals_an_unbroken_one(tmp_path: Path, kind: str, strategy: str) -> None:
    job = Job(kind, strategy, tmp_path)
    with job.parameter_servers():
        job.run("start")
        _check_equal(job, ENDS)
        for stage in ("sigterm", "sigkill", "last"):
            before = latest_step(job.resumed)
            job.run(stage)
            after = latest_step(job.resumed)
            assert after > before, stage
            _check_equal(job, [after])
