"""Hook that records the goodput of a training: in the history, and for `estimator-train launch`."""

import os
import time
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.sync_step_time import build_local_secs
from estimator_train.engine.hook_types import (
    HookPhase,
    Loss,
    PhasedHook,
    RunArgs,
    RunContext,
    RunValues,
)
from estimator_train.engine.run import history
from estimator_train.engine.tf_internals import step_reads
from estimator_train.goodput.clock import STEPS, append_to_launchers_file, process_clock
from estimator_train.goodput.stragglers import OWN_PART, MeanOfSteps
from estimator_train.lifecycle import preemption

_LAUNCHERS_SECS = 1.0
_FILE_SECS = 60.0


def make_goodput_hook(
    context: EstimatorContext, train_op: tf.Operation | tf.Tensor
) -> "GoodputHook":
    """Returns the hook of a training; only a chief that has a history writes to it.

    Args:
      context: The estimator that is trained.
      train_op: The operation or tensor of a step.
    """
    config, step_read = context.config, step_reads.find_global_step_read()
    own_secs = build_local_secs(train_op) if context.topology.is_synchronous else None
    if not config.log_step_count_steps:
        return GoodputHook(step_read, own_secs=own_secs)
    if config.is_chief:
        return GoodputHook(step_read, history_dir=context.model_dir, own_secs=own_secs)
    name = f"{config.task_type}:{config.task_id}.jsonl"
    task_file = os.path.join(context.model_dir, history.TASKS_DIR, name)
    return GoodputHook(step_read, task_file=task_file, own_secs=own_secs)


class GoodputHook(PhasedHook):
    """Hook that records the time of this process by cause (`goodput.account`).

    The first step of a session prepares its graph, which takes seconds: it counts as the start.

    Args:
      step_read: Tensor of the global step before a step.
      history_dir: The model_dir whose history gets a line at each checkpoint and at the end; None
        for no such lines.
      task_file: File of a worker that is not chief, with a line every minute and at the end; or
        None.
      own_secs: The seconds of a synchronous worker for its own part of a step, a scalar; or None.
    """

    phase = HookPhase.AFTER_ALL  # Its last record covers the last checkpoint.

    def __init__(
        self,
        step_read: tf.Tensor,
        history_dir: str | None = None,
        task_file: str | None = None,
        own_secs: tf.Tensor | None = None,
    ) -> None:
        self._step_read = step_read
        self._history_dir = history_dir
        self._history: history.History | None = None
        self._task_file = task_file
        self._step = 0
        self._from_step: int | None = None
        self._is_from_copy = False
        self._own_steps = 0
        self._own_secs = own_secs
        self._own_part = None if own_secs is None else MeanOfSteps()
        self._recorded = self._filed = 0.0

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the hook waits for no step."""

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Opens the history, and reads the restored global step."""
        if self._history is None and self._history_dir is not None:
            # One object: the file stays open, so that a removed model_dir is not created again.
            self._history = history.History(self._history_dir)
        self._step = int(session.run(self._step_read))
        if self._from_step is None:
            self._from_step = self._step
            self.record(self._step)

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the global step and, of a synchronous worker, the time of its own part."""
        del run_context
        own_part = () if self._own_secs is None else (self._own_secs,)
        return RunArgs([self._step_read, *own_part])

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Follows the global step."""
        before, *own_secs = run_values.results
        if self._own_part is not None:
            self._own_part.add(float(own_secs[0]))
        self._own_steps += 1
        self._follow(int(before) + 1)

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        self._own_steps += steps
        self._follow(self._step + steps)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Records the end of training."""
        self._step = int(session.run(self._step_read))  # A worker may make one more step to stop.
        self.record(self._step, is_end=not preemption.is_requested())
        if self._history is not None:
            self._history.close()

    def set_restored(self, is_interim: bool) -> None:
        """Stores whether a new session restored a copy in memory, not a checkpoint."""
        self._is_from_copy = is_interim

    def record_save(self, step: int) -> None:
        """Records a checkpoint, unless a new session saved the one that it restored.

        Args:
          step: Its global step.
        """
        if self._from_step is not None and step > self._from_step:
            self.record(step)

    def record(self, step: int, is_end: bool = False) -> None:
        """Writes a record to the history and to the launcher's file.

        Args:
          step: The global step.
          is_end: Whether the training ends by itself.
        """
        if self._history is not None:
            self._history.append(step, self._make_entry(is_end))
        self._record_task(step, is_end)

    def _record_task(self, step: int, is_end: bool = False) -> None:
        """Writes a record to the launcher's file and, once a minute, to that of a worker."""
        record = {"step": step, "time": time.time(), **self._make_entry(is_end)}
        append_to_launchers_file(record)
        self._recorded = time.monotonic()
        if self._task_file is not None and (is_end or self._recorded - self._filed >= _FILE_SECS):
            self._filed = self._recorded
            history.append_line(self._task_file, record)

    def _follow(self, step: int) -> None:
        self._step = step
        process_clock.switch(STEPS)
        if time.monotonic() - self._recorded >= _LAUNCHERS_SECS:
            self._record_task(step)

    def _make_entry(self, is_end: bool) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "run": process_clock.started,
            "from_step": self._from_step,
            "own_steps": self._own_steps,
            "secs": process_clock.read_secs(),
        }
        if self._is_from_copy:
            entry["from_copy"] = True
        if self._own_part is not None and self._own_part.is_known:
            entry[OWN_PART] = round(self._own_part.secs, 6)
        return {"goodput": {**entry, "is_end": True} if is_end else entry}
