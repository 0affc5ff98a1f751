"""The cluster a process is part of and its task there, as TF_CONFIG tells. No TensorFlow."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"

Jobs = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True)
class Cluster:
    """One task of a cluster of processes, or a process that stands alone (no `jobs`).

    Attributes:
        jobs: addresses ("host:port") of every job's tasks by their index.
        task_type: name of this process's job: "chief" (or the older "master"), "worker",
            "ps", "evaluator" or any other of `jobs`.
        task_id: index of this process in its job.
        session_master: address TensorFlow sessions connect to, if another than this task's.
        eval_session_master: the same for evaluation.
        service: settings of the platform, kept as they are.
        model_dir: directory of the model that the platform sets, or None.
    """

    jobs: Jobs = field(default_factory=dict)
    task_type: str = WORKER
    task_id: int = 0
    session_master: str | None = None
    eval_session_master: str = ""
    service: dict[str, Any] | None = None
    model_dir: str | None = None

    @property
    def is_evaluator(self) -> bool:
        """True for an evaluator, which stands beside the training cluster."""
        return self.task_type == EVALUATOR

    @property
    def is_chief(self) -> bool:
        """True for the one task that saves checkpoints and summaries.

        Workers that train in step need no task of that name; their first is the chief.
        """
        if not self.jobs or self.task_type in (CHIEF, MASTER):
            return True
        has_chief = CHIEF in self.jobs or MASTER in self.jobs
        return not has_chief and (self.task_type, self.task_id) == (WORKER, min(self.jobs[WORKER]))

    @property
    def num_ps(self) -> int:
        """Number of parameter servers; an evaluator sees none."""
        return 0 if self.is_evaluator else len(self.jobs.get(PS, ()))

    @property
    def num_workers(self) -> int:
        """Number of tasks that train, the chief included; an evaluator sees none."""
        if self.is_evaluator:
            return 0
        if not self.jobs:
            return 1
        return sum(len(self.jobs.get(job, ())) for job in (CHIEF, MASTER, WORKER))

    @property
    def global_id(self) -> int | None:
        """A number of this task that no other has: chief 0, others by name, ps last.

        An evaluator has none.
        """
        if self.is_evaluator:
            return None
        order = sorted(self.jobs, key=lambda job: (job == PS, job not in (CHIEF, MASTER), job))
        before = order[: order.index(self.task_type)] if self.jobs else []
        return self.task_id + sum(1 + max(self.jobs[job], default=-1) for job in before)

    @property
    def master(self) -> str:
        """Address that sessions of training connect to; "" is this process itself."""
        if self.is_evaluator:
            return ""
        if self.session_master is not None:
            return self.session_master
        if sum(len(tasks) for tasks in self.jobs.values()) <= 1:
            return ""
        return "grpc://" + self.jobs[self.task_type][self.task_id]

    @property
    def evaluation_master(self) -> str:
        """Address that sessions of evaluation connect to; "" is this process itself."""
        return self.eval_session_master if self.is_evaluator or not self.jobs else ""

    @property
    def device_filters(self) -> tuple[str, ...]:
        """The devices a session of this task may see, so that workers do not wait for others.

        Empty means no restriction.
        """
        if not self.jobs or self.is_evaluator:
            return ()
        if self.task_type in (CHIEF, MASTER):
            return ("/job:ps", f"/job:{self.task_type}")
        if self.task_type == WORKER:
            return ("/job:ps", f"/job:worker/task:{self.task_id}")
        if self.task_type == PS:
            return ("/job:ps", "/job:worker", "/job:chief", "/job:master")
        return ()


def read_tf_config(text: str | None = None) -> dict[str, Any]:
    """Reads the JSON object in TF_CONFIG.

    Args:
        text: the JSON; by default that of the environment variable TF_CONFIG.

    Returns:
        The object; empty where the variable is not set or blank.

    Raises:
        ValueError: it is no JSON object.
    """
    text = os.environ.get("TF_CONFIG", "") if text is None else text
    if not text.strip():
        return {}
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"TF_CONFIG is not valid JSON: {error}. TF_CONFIG: {text}") from error
    if not isinstance(config, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object with cluster and task, got: {text}")
    return config


def cluster_from_tf_config(text: str | None = None, *, needs_chief: bool = True) -> Cluster:
    """Reads the cluster and this process's task from TF_CONFIG, and checks them.

    Args:
        text: the JSON; by default that of the environment variable TF_CONFIG.
        needs_chief: whether there must be a task named chief or master, as there must be but
            for workers that train in step.

    Returns:
        The cluster; without `jobs` if TF_CONFIG names none.

    Raises:
        ValueError: no JSON object, a task or chief missing or twice, an unknown job, an
            index that is no number or out of range, an empty model_dir.
        TypeError: cluster, job, address, task or service of a wrong type.
    """
    config = read_tf_config(text)
    jobs = read_jobs(config)
    task = config.get("task") or {}
    if not isinstance(task, dict):
        raise TypeError(f'"task" in TF_CONFIG must be a dict, given: {task}')
    if jobs:
        _check_chief(jobs, needs_chief)
        task_type, task_id = _task_of_cluster(task, jobs)
    else:
        task_type, task_id = _task_alone(task)
    return Cluster(
        jobs=jobs,
        task_type=task_type,
        task_id=task_id,
        session_master=config.get("session_master"),
        eval_session_master=config.get("eval_session_master", ""),
        **platform_settings(config),
    )


def platform_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The `service` and `model_dir` of a TF_CONFIG object, checked; see `Cluster`.

    Raises:
        TypeError: the service is no dict.
        ValueError: the model_dir is empty.
    """
    service, model_dir = config.get("service"), config.get("model_dir")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            'If "service" is set in TF_CONFIG, it must be a dict. Given ' + str(type(service))
        )
    if model_dir == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    return {"service": service, "model_dir": model_dir}


def read_jobs(config: Mapping[str, Any]) -> dict[str, dict[int, str]]:
    """The jobs of a TF_CONFIG object's cluster with their tasks' addresses by index.

    Raises:
        TypeError: the cluster or a job in it is of a wrong type.
    """
    cluster = config.get("cluster") or {}
    if not isinstance(cluster, dict):
        raise TypeError(
            "`cluster` must be a dictionary mapping one or more job names to lists of network "
            f"addresses, given: {cluster}"
        )
    return {job: _addresses(job, tasks) for job, tasks in cluster.items()}


def _addresses(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, dict):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to "
            f"strings. Given in TF_CONFIG: {tasks}"
        )
    for address in tasks.values():
        if not isinstance(address, str):
            raise TypeError(
                f"Task address {address} must be bytes or unicode, as every one in TF_CONFIG"
            )
    return {_index(index): address for index, address in tasks.items()}


def _index(index: Any) -> int:
    try:
        if isinstance(index, float) and not index.is_integer():
            raise ValueError(f"no whole number: {index}")
        return int(index)
    except (TypeError, ValueError) as error:
        raise ValueError(f"A task index in TF_CONFIG must be an integer: {error}") from error


def _check_chief(jobs: Jobs, needs_chief: bool) -> None:
    if MASTER in jobs and CHIEF in jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    chief = MASTER if MASTER in jobs else CHIEF
    if not needs_chief and chief not in jobs and jobs.get(WORKER):
        return
    if not jobs.get(chief):
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{CHIEF}" node.')
    if len(jobs[chief]) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')


def _task_of_cluster(task: Mapping[str, Any], jobs: Jobs) -> tuple[str, int]:
    for key in ("type", "index"):
        if task.get(key) in (None, ""):
            raise ValueError(f'If "cluster" is set in TF_CONFIG, task {key} must be set.')
    task_type, task_id = task["type"], _index(task["index"])
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number. Given: {task_id}")
    if task_type == EVALUATOR:
        if MASTER in jobs:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
            )
        return task_type, task_id  # an evaluator need not be listed
    if task_type not in jobs:
        problem = f"{task_type} is not a valid task_type"
    elif task_id not in jobs[task_type]:
        problem = f"{task_id} is not a valid task_id for task_type {task_type}"
    else:
        return task_type, task_id
    raise ValueError(
        f"{problem} in the cluster_spec:\n{_as_text(jobs)}\n\n"
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )


def _task_alone(task: Mapping[str, Any]) -> tuple[str, int]:
    if task.get("type", WORKER) != WORKER:
        raise ValueError(
            f'If "cluster" is not set in TF_CONFIG, task type must be WORKER. Given: {task["type"]}'
        )
    if _index(task.get("index", 0)) != 0:
        raise ValueError(
            f'If "cluster" is not set in TF_CONFIG, task index must be 0. Given: {task["index"]}'
        )
    return WORKER, 0


def _as_text(jobs: Jobs) -> str:
    """The jobs as a tf.train.ClusterSpec prints them."""
    shown = {}
    for job, tasks in sorted(jobs.items()):
        dense = list(tasks) == list(range(len(tasks)))
        shown[job] = list(tasks.values()) if dense else dict(tasks)
    return f"ClusterSpec({shown})"
