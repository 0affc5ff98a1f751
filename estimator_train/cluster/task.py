"""One task of a cluster of processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"

Jobs = Mapping[str, Mapping[int, str]]


@dataclass(frozen=True)
class Cluster:
    """One task of a cluster of processes, or a process that stands alone (no `jobs`).

    Attributes:
      jobs: Addresses ("host:port") of every job's tasks by their index.
      task_type: Name of this process's job: "chief" (or the older "master"), "worker",
        "ps", "evaluator" or any other of `jobs`.
      task_id: Index of this process in its job.
      session_master: Address TensorFlow sessions connect to, if another than this task's.
      eval_session_master: The same for evaluation.
      service: Settings of the platform, kept as they are.
      model_dir: Directory of the model that the platform sets, or None.
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
        """True for an evaluator, which is not part of the training cluster."""
        return self.task_type == EVALUATOR

    @property
    def is_chief(self) -> bool:
        """True for the one task that saves checkpoints and summaries.

        Synchronous workers need no task of that name; their first is the chief.
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
