"""One task of a cluster of processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"

Jobs = Mapping[str, Mapping[int, str]]


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
