"""Hooks that every training has: steps per second, the history, summaries, the loss."""

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.job import Job
from estimator_train.engine.run.failures import NanLossError, describe_not_finite
from estimator_train.engine.run.history import History
from estimator_train.engine.types import (
    Hook,
    HookPhase,
    Loss,
    RunArgs,
    RunContext,
    RunValues,
    StepFetches,
)
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_STEP_RATE = "global_step/sec"
_EXAMPLE_RATE = "examples/sec"


def make_standard_hooks(
    job: Job, step: Step, fetches: StepFetches, join_writer: Callable[[], None]
) -> dict[HookPhase, list[Hook]]:
    """Returns the hooks that every training has, by their phases.

    Args:
      job: The call of `train`.
      step: The training step.
      fetches: The tensors of the step.
      join_writer: Waits for a checkpoint that a thread is writing.
    """
    return {
        HookPhase.EVENTS: [
            *_make_event_hooks(job, fetches.step_after, step.spec.scaffold),
            *_make_history_hooks(job, fetches),
        ],
        HookPhase.LOSS: _make_loss_hooks(job, step, fetches, join_writer),
    }


def _make_event_hooks(
    job: Job, step_after: tf.Tensor, scaffold: tf.compat.v1.train.Scaffold
) -> list[Hook]:
    """Returns the hooks that write the event file, in the task that has one."""
    config, model_dir = job.config, job.model_dir
    if not job.together.writes_events:
        return []
    hooks: list[Hook] = []
    if every := config.log_step_count_steps:
        hooks.append(StepRateHook(step_after, every, model_dir, job.examples_per_step))
    if every := config.save_summary_steps:
        hooks.append(SummaryHook(step_after, every, model_dir, scaffold))
    return hooks


def _make_history_hooks(job: Job, fetches: StepFetches) -> list[Hook]:
    """Returns the hook that writes the history into model_dir, on the chief."""
    config, every = job.config, job.config.log_step_count_steps
    if not every or not config.is_chief:
        return []
    return [
        HistoryHook(
            job.model_dir,
            every,
            fetches.loss,
            fetches.step_read,
            fetches.batch_size,
            *_count_replicas_and_processes(config),
        )
    ]


def _count_replicas_and_processes(config: RunConfig) -> tuple[int, int]:
    """Returns the number of replicas that train, and of their synchronous processes."""
    strategy = config.train_distribute
    if strategy is None or not strategy.num_replicas_in_sync > 1:
        return max(1, config.num_worker_replicas), 1
    replicas = strategy.num_replicas_in_sync
    return replicas, replicas // max(1, len(strategy.extended.worker_devices))


def _make_loss_hooks(
    job: Job, step: Step, fetches: StepFetches, join_writer: Callable[[], None]
) -> list[Hook]:
    """Returns the hooks that check the loss for NaN and log it."""
    nan_hook = NanLossHook(fetches.loss, step.global_step, job.model_dir, join_writer)
    hooks: list[Hook] = [nan_hook]
    every = job.config.log_step_count_steps
    if every:
        tensors = {"loss": fetches.loss, "step": fetches.step_read}
        hooks.append(tf.compat.v1.train.LoggingTensorHook(tensors, every_n_iter=every))
    return hooks


class StepRateHook(Hook):
    """Hook that logs the steps per second and writes them as the summary `global_step/sec`.

    With examples_per_step it also logs and writes `examples/sec`, as a TPUEstimator does.

    The hook fetches the global step with the step. The separate session call of TensorFlow's
    StepCounterHook would take as long as a small step.

    Args:
      step_after: Tensor of the global step after a step.
      every_n_steps: Number of steps from one rate to the next.
      output_dir: Directory of the event file.
      examples_per_step: Number of examples in a step, or None.
    """

    def __init__(
        self,
        step_after: tf.Tensor,
        every_n_steps: int,
        output_dir: str,
        examples_per_step: int | None = None,
    ) -> None:
        self._read_step_after, self._every, self._dir = step_after, every_n_steps, output_dir
        self._examples_per_step = examples_per_step
        self._timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=every_n_steps)

    def begin(self) -> None:
        """Opens the event file."""
        self._writer = tf.compat.v1.summary.FileWriterCache.get(self._dir)

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps up to and with the next rate."""
        last = self._timer.last_triggered_step()
        return 1 if last is None else last + self._every - global_step

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the global step."""
        del run_context
        return RunArgs(self._read_step_after)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the rate, if it is due."""
        del run_context
        step = int(run_values.results)
        if not self._timer.should_trigger_for_step(step):
            return
        secs, steps = self._timer.update_last_triggered_step(step)
        if secs is None:  # The first step starts the clock.
            return
        rates = {_STEP_RATE: steps / secs}
        if self._examples_per_step is not None:
            rates[_EXAMPLE_RATE] = rates[_STEP_RATE] * self._examples_per_step
        summary = tf.compat.v1.Summary()
        for tag, rate in rates.items():
            summary.value.add(tag=tag, simple_value=rate)
            _LOG.info("%s: %g", tag, rate)
        self._writer.add_summary(summary, step)


class SummaryHook(Hook):
    """Hook that writes the summaries of the first step and of every n-th after it.

    The hook fetches the global step with the step; see `StepRateHook`.

    Args:
      step_after: Tensor of the global step after a step.
      every_n_steps: Number of steps from one summary to the next.
      output_dir: Directory of the event file.
      scaffold: The Scaffold of the session, with its summary_op.
    """

    def __init__(
        self,
        step_after: tf.Tensor,
        every_n_steps: int,
        output_dir: str,
        scaffold: tf.compat.v1.train.Scaffold,
    ) -> None:
        self._read_step_after, self._every, self._dir = step_after, every_n_steps, output_dir
        self._scaffold = scaffold
        self._timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=every_n_steps)

    def begin(self) -> None:
        """Opens the event file."""
        self._writer = tf.compat.v1.summary.FileWriterCache.get(self._dir)
        self._next_step: int | None = None

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps up to and with the next summary."""
        last = self._timer.last_triggered_step()
        is_first = self._next_step is None or last is None
        return 1 if is_first else last + self._every - global_step

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        del loss
        if self._next_step is not None:
            self._next_step += steps

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the summaries, if they are due, and the global step."""
        del run_context
        is_first = self._next_step is None
        self._is_due = is_first or self._timer.should_trigger_for_step(self._next_step)
        has_summaries = self._is_due and self._scaffold.summary_op is not None
        return RunArgs(
            [self._read_step_after, *([self._scaffold.summary_op] if has_summaries else [])]
        )

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the summaries."""
        del run_context
        step, *summaries = run_values.results
        if self._next_step is None:
            start = tf.compat.v1.SessionLog(status=tf.compat.v1.SessionLog.START)
            self._writer.add_session_log(start, step)
        if self._is_due:
            self._timer.update_last_triggered_step(step)
            for summary in summaries:
                self._writer.add_summary(summary, step)
        self._next_step = int(step) + 1

    def end(self, session: tf.compat.v1.Session) -> None:
        """Flushes the event file."""
        del session
        self._writer.flush()


class HistoryHook(Hook):
    """Hook that adds a line to the history after the first step and after every n-th since.

    Args:
      model_dir: The directory of the file.
      every_n_steps: Number of steps from one line to the next.
      loss: The loss, a scalar tensor.
      step_read: Tensor of the global step before a step.
      batch_size: Tensor of the number of examples in a step of this process, or None.
      replicas: Number of replicas that train.
      processes: Number of synchronous processes that have these replicas.
    """

    def __init__(
        self,
        model_dir: str,
        every_n_steps: int,
        loss: tf.Tensor,
        step_read: tf.Tensor,
        batch_size: tf.Tensor | None,
        replicas: int = 1,
        processes: int = 1,
    ) -> None:
        self._model_dir, self._every = model_dir, every_n_steps
        self._fetches = {"loss": loss, "before": step_read}
        if batch_size is not None:
            self._fetches["examples"] = batch_size
        self._replicas, self._processes = replicas, processes
        self._history: History | None = None
        self._steps = 0
        self._next: int | None = None
        self._last_line: tuple[int, float] | None = None

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps up to and with the next line."""
        return 1 if self._next is None else self._next - global_step

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        self._steps += steps

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Opens the file."""
        self._history = self._history or History(self._model_dir)

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Requests the loss if a line is due."""
        self._due = self._steps % self._every == 0
        return RunArgs(self._fetches) if self._due else None

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the line."""
        self._steps += 1
        if not self._due:
            return
        values = run_values.results
        step = int(values["before"]) + 1
        self._next = step + self._every
        entry = {"loss": values["loss"], "replicas": self._replicas}
        now = time.monotonic()
        if self._last_line is not None:
            rate = (step - self._last_line[0]) / max(now - self._last_line[1], 1e-9)
            entry["steps_per_sec"] = rate
            if "examples" in values:
                entry["examples_per_sec"] = rate * values["examples"] * self._processes
        self._last_line = (step, now)
        assert self._history is not None
        self._history.append(step, entry)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Closes the file."""
        if self._history is not None:
            self._history.close()


class NanLossHook(tf.compat.v1.train.NanTensorHook):
    """Hook that ends training with an error if the loss is NaN; the error names the cause.

    Args:
      loss: The loss, a scalar tensor.
      global_step: The global step, a variable.
      model_dir: Directory of the checkpoints.
      join_writer: Waits for a checkpoint that a thread is writing.
    """

    def __init__(
        self,
        loss: tf.Tensor,
        global_step: tf.Variable,
        model_dir: str,
        join_writer: Callable[[], None],
    ) -> None:
        super().__init__(loss)
        self._global_step = global_step
        self._model_dir = model_dir
        self._join_writer = join_writer

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Stores the session, to examine it after a NaN."""
        del coord
        self._session = session

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: a loop ends at the first loss that is not finite."""

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Checks the last loss of a loop."""
        self._check(loss)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Checks the loss of a step."""
        self._check(run_values.results)

    def _check(self, loss: Loss) -> None:
        if np.isnan(loss):
            _LOG.error("Model diverged with loss = NaN.")
            self._join_writer()
            graph_step = self._session.run(self._global_step)
            description = describe_not_finite(self._session, graph_step, self._model_dir)
            raise NanLossError(description)
