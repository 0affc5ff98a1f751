"""One task of a cluster, and TF_CONFIG, which describes it. Each error names the wrong value."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"

Jobs = Mapping[str, Mapping[int, str]]
_LAST_PORT = 65535


def list_tasks(workers: int, ps: int, evaluators: int) -> list[tuple[str, int]]:
    """Returns the job and the index of each task of a cluster with a chief, the chief first."""
    counts = {CHIEF: 1, WORKER: workers, PS: ps, EVALUATOR: evaluators}
    return [(job, index) for job, count in counts.items() for index in range(count)]


def group_by_job(
    tasks: Iterable[tuple[str, int]], addresses: Iterable[str]
) -> dict[str, dict[int, str]]:
    """Returns the jobs of tasks with these addresses; see `Cluster.jobs`."""
    jobs: dict[str, dict[int, str]] = {}
    for (job, index), address in zip(tasks, addresses, strict=True):
        jobs.setdefault(job, {})[index] = address
    return jobs


@dataclass(frozen=True)
class Cluster:
    """One task of a cluster of processes; without `jobs`, a single process.

    Attributes:
      jobs: For each job, the addresses ("host:port") of its tasks by their index.
      task_type: Job of this process: "chief" (or the older "master"), "worker", "ps",
        "evaluator" or another key of `jobs`.
      task_id: Index of this process in its job.
      session_master: Address that sessions connect to; None: the address of this task.
      eval_session_master: The same for evaluation.
      service: Settings of the platform, unchanged.
      model_dir: Model directory that the platform sets, or None.
      platform: Name of the platform whose variables describe the cluster.
      unused_platforms: Names of other platforms whose variables are set.
    """

    jobs: Jobs = field(default_factory=dict)
    task_type: str = WORKER
    task_id: int = 0
    session_master: str | None = None
    eval_session_master: str = ""
    service: dict[str, Any] | None = None
    model_dir: str | None = None
    platform: str = field(default="TF_CONFIG", compare=False)
    unused_platforms: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_evaluator(self) -> bool:
        """Whether this task is an evaluator, which is not part of the training cluster."""
        return self.task_type == EVALUATOR

    @property
    def is_chief(self) -> bool:
        """Whether this task saves checkpoints and summaries.

        Without a task named chief or master, as synchronous workers may be, worker 0 does.
        """
        if not self.jobs or self.task_type in (CHIEF, MASTER):
            return True
        has_chief = CHIEF in self.jobs or MASTER in self.jobs
        return not has_chief and (self.task_type, self.task_id) == (WORKER, min(self.jobs[WORKER]))

    @property
    def num_ps(self) -> int:
        """Number of parameter servers; 0 for an evaluator."""
        return 0 if self.is_evaluator else len(self.jobs.get(PS, ()))

    @property
    def num_trainers(self) -> int:
        """Number of tasks in `jobs` that train, the chief included."""
        return sum(len(self.jobs.get(job, ())) for job in (CHIEF, MASTER, WORKER))

    @property
    def num_workers(self) -> int:
        """Number of tasks that train with this one, itself included; 0 for an evaluator."""
        if self.is_evaluator:
            return 0
        return self.num_trainers if self.jobs else 1

    @property
    def global_id(self) -> int | None:
        """Index of this task, unique within the cluster; None for an evaluator.

        The chief has 0; the jobs follow by name, ps last.
        """
        if self.is_evaluator:
            return None
        order = sorted(self.jobs, key=lambda job: (job == PS, job not in (CHIEF, MASTER), job))
        before = order[: order.index(self.task_type)] if self.jobs else []
        return self.task_id + sum(1 + max(self.jobs[job], default=-1) for job in before)

    @property
    def master(self) -> str:
        """Address that training sessions connect to; "" for a session within this process."""
        if self.is_evaluator:
            return ""
        if self.session_master is not None:
            return self.session_master
        if sum(len(tasks) for tasks in self.jobs.values()) <= 1:
            return ""
        return "grpc://" + self.jobs[self.task_type][self.task_id]

    @property
    def evaluation_master(self) -> str:
        """Address that evaluation sessions connect to; "" for a session within this process."""
        return self.eval_session_master if self.is_evaluator or not self.jobs else ""

    @property
    def device_filters(self) -> tuple[str, ...]:
        """Devices that a session of this task may see, so that it does not wait for other workers.

        Empty: all devices.
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
      text: The JSON; by default the environment variable TF_CONFIG.

    Returns:
      The object; empty if the variable is not set or blank.

    Raises:
      ValueError: The text is not a JSON object.
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
      text: The JSON; by default the environment variable TF_CONFIG.
      needs_chief: Whether there must be a task named chief or master. Only synchronous workers
        do not need one.

    Returns:
      The cluster; without `jobs` if TF_CONFIG names none.

    Raises:
      ValueError: No JSON object, a task or chief missing or twice, an unknown job, an
        index that is not a number or out of range, an empty model_dir. Addresses may be any
        strings; `check_addresses` checks them.
      TypeError: Cluster, job, address, task or service of a wrong type.
    """
    config = read_tf_config(text)
    jobs = read_jobs(config)
    task = config.get("task") or {}
    if not isinstance(task, dict):
        raise TypeError(f'"task" in TF_CONFIG must be a dict, given: {task}')
    if jobs:
        _check_chief(jobs, needs_chief)
        task_type, task_id = _read_task_of_cluster(task, jobs)
    else:
        task_type, task_id = _make_task_alone(task)
    return Cluster(
        jobs=jobs,
        task_type=task_type,
        task_id=task_id,
        session_master=config.get("session_master"),
        eval_session_master=config.get("eval_session_master", ""),
        **read_platform_settings(config),
    )


def to_tf_config(cluster: Cluster) -> str:
    """Returns the TF_CONFIG of a task, for code that reads no other variables.

    Args:
      cluster: The cluster and the task.
    """
    jobs = {job: list(tasks.values()) for job, tasks in cluster.jobs.items()}
    return json.dumps(
        {"cluster": jobs, "task": {"type": cluster.task_type, "index": cluster.task_id}}
    )


def read_platform_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the checked `service` and `model_dir` of a TF_CONFIG object; see `Cluster`.

    Raises:
      TypeError: The service is not a dict.
      ValueError: The model_dir is empty.
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
    """Returns the jobs of a TF_CONFIG object: the addresses of their tasks by index.

    Raises:
      TypeError: The cluster or a job in it is of a wrong type.
    """
    cluster = config.get("cluster") or {}
    if not isinstance(cluster, dict):
        raise TypeError(
            "`cluster` must be a dictionary mapping one or more job names to lists of network "
            f"addresses, given: {cluster}"
        )
    return {job: _read_addresses(job, tasks) for job, tasks in cluster.items()}


def check_addresses(jobs: Jobs) -> None:
    """Checks the addresses of a cluster before a server is started in it.

    Reading TF_CONFIG accepts every string, as tf.estimator does: a process that starts no server
    never uses them. With parameter servers, tasks that train may share an address, because no task
    connects to a worker: some TF_CONFIGs of TensorFlow 1 list the chief as worker 0, too.

    Args:
      jobs: The addresses of every job's tasks by their index.

    Raises:
      ValueError: An address is not host:port, or two tasks have an address that must be unique.
    """
    owners: dict[str, tuple[str, int]] = {}
    for job, tasks in jobs.items():
        for index, address in tasks.items():
            port = address.rpartition(":")[2].strip()
            if ":" not in address or not port.isdigit() or int(port) > _LAST_PORT:
                raise ValueError(
                    f"The address of {job} {index} in TF_CONFIG must be host:port, "
                    f"given: {address!r}"
                )
            other_job, other_index = owners.setdefault(address, (job, index))
            is_same_task = (other_job, other_index) == (job, index)
            if not is_same_task and (PS not in jobs or PS in (job, other_job)):
                raise ValueError(
                    f"{other_job} {other_index} and {job} {index} have the same address in "
                    f"TF_CONFIG: {address}. Give each task a different port."
                )


def _read_addresses(job: str, tasks: object) -> dict[int, str]:
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
    return {_read_index(index): address for index, address in tasks.items()}


def _read_index(index: Any) -> int:
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


def _read_task_of_cluster(task: Mapping[str, Any], jobs: Jobs) -> tuple[str, int]:
    for key in ("type", "index"):
        if task.get(key) in (None, ""):
            raise ValueError(f'If "cluster" is set in TF_CONFIG, task {key} must be set.')
    task_type, task_id = task["type"], _read_index(task["index"])
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number. Given: {task_id}")
    if task_type == EVALUATOR:
        if MASTER in jobs:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
            )
        return task_type, task_id  # The cluster need not list an evaluator.
    if task_type not in jobs:
        problem = f"{task_type} is not a valid task_type"
    elif task_id not in jobs[task_type]:
        problem = f"{task_id} is not a valid task_id for task_type {task_type}"
    else:
        return task_type, task_id
    raise ValueError(
        f"{problem} in the cluster_spec:\n{_format_jobs(jobs)}\n\n"
        "Note that these values may be coming from the TF_CONFIG environment variable."
    )


def _make_task_alone(task: Mapping[str, Any]) -> tuple[str, int]:
    if task.get("type", WORKER) != WORKER:
        raise ValueError(
            f'If "cluster" is not set in TF_CONFIG, task type must be WORKER. Given: {task["type"]}'
        )
    if _read_index(task.get("index", 0)) != 0:
        raise ValueError(
            f'If "cluster" is not set in TF_CONFIG, task index must be 0. Given: {task["index"]}'
        )
    return WORKER, 0


def _format_jobs(jobs: Jobs) -> str:
    """Returns the jobs as a tf.train.ClusterSpec prints them."""
    shown = {}
    for job, tasks in sorted(jobs.items()):
        dense = list(tasks) == list(range(len(tasks)))
        shown[job] = list(tasks.values()) if dense else dict(tasks)
    return f"ClusterSpec({shown})"
