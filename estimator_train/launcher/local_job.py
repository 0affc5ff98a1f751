"""Tasks of a cluster on one machine: their names, addresses and TF_CONFIGs."""

import dataclasses
from collections.abc import Sequence

from estimator_train.cluster import (
    CHIEF,
    EVALUATOR,
    PS,
    WORKER,
    Cluster,
    Jobs,
    to_tf_config,
)
from estimator_train.cluster.tf_config import group_by_job, list_tasks
from estimator_train.launcher.ports import ReservedAddresses

CHIEF_NAME = f"{CHIEF}:0"


@dataclasses.dataclass(frozen=True)
class LocalJob:
    """Cluster on this machine and the program of its processes.

    Attributes:
      command: The program and its arguments, the same for all.
      workers: Number of workers, without the chief.
      ps: Number of parameter servers; without any, all training processes restart if one fails.
      evaluator: Whether there is an evaluator.
      max_restarts: Maximum number of restarts, over all processes.
      grace_secs: Seconds from SIGTERM to SIGKILL, and the time that workers and parameter servers
        have to end without a signal after the chief has ended.
      evaluator_secs: Seconds that the evaluator has for its last evaluation.
      standby: Whether a process imports the program's packages, to replace failed tasks quickly.
    """

    command: Sequence[str]
    workers: int = 0
    ps: int = 0
    evaluator: bool = False
    max_restarts: int = 3
    grace_secs: float = 30.0
    evaluator_secs: float = 600.0
    standby: bool = True


def choose_addresses(job: LocalJob) -> tuple[Jobs, ReservedAddresses]:
    """Chooses free addresses for the tasks of a job, and reserves them."""
    # TensorFlow creates a MultiWorkerMirroredStrategy only in a process that the cluster lists.
    listed = job.evaluator and not job.ps
    tasks = list_tasks(job.workers, job.ps, int(listed))
    reserved = ReservedAddresses(len(tasks))
    return group_by_job(tasks, reserved.addresses), reserved


def make_tf_configs(job: LocalJob, jobs: Jobs) -> dict[str, str]:
    """Returns the TF_CONFIG of each task by its name; "" for a chief without other tasks."""
    tasks = [(name, index) for name, members in jobs.items() for index in members]
    # Parameter servers start first: the other tasks wait for them.
    tasks.sort(key=lambda task: task[0] != PS)
    if job.evaluator and EVALUATOR not in jobs:
        tasks.append((EVALUATOR, 0))
    if len(tasks) == 1:
        return {CHIEF_NAME: ""}
    return {f"{name}:{index}": to_tf_config(Cluster(jobs, name, index)) for name, index in tasks}


def is_trainer(name: str) -> bool:
    """Returns whether the task of this name ("worker:0") trains."""
    return parse_job(name) in (CHIEF, WORKER)


def parse_job(name: str) -> str:
    """Returns the job ("worker") of a task name ("worker:0")."""
    return name.split(":")[0]
