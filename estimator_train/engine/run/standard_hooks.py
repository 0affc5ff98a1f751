"""The hooks that every training has: steps per second, the history, summaries, the loss."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.hook_types import Hook, RunArgs, RunContext, RunValues
from estimator_train.engine.run.history import History
from estimator_train.engine.run.nan_loss import NanLossError, findings
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()


def event_hooks(context: EstimatorContext, step: Step, step_read: tf.Tensor) -> list[Any]:
    """What this process writes into model_dir: steps per second, the history, summaries.

    Args:
      context: The estimator that is trained.
      step: The training step.
      step_read: Tensor of the global step before that step.
    """
    config = context.config
    every, writes = config.log_step_count_steps, context.topology.writes_events
    hooks: list[Any] = []
    if not writes and not config.is_chief:
        return hooks
    step_after = _step_after(step)
    if every and writes:
        counter = StepCounter(step_after, every_n_steps=every, output_dir=context.model_dir)
        hooks.append(counter)
    if every and config.is_chief:
        hooks.append(
            HistoryHook(
                context.model_dir,
                every,
                step.spec.loss,
                step_read,
                step.batch_size,
                *_replicas_and_processes(config),
            )
        )
    if config.save_summary_steps and writes:
        hooks.append(
            SummarySaver(
                step_after,
                save_steps=config.save_summary_steps,
                output_dir=context.model_dir,
                scaffold=step.spec.scaffold,
            )
        )
    return hooks


def _step_after(step: Step) -> tf.Tensor:
    """The global step when a step is done."""
    with tf.control_dependencies([step.spec.train_op]):
        primary = getattr(step.global_step, "values", (step.global_step,))[0]
        return primary.read_value()


def _replicas_and_processes(config: RunConfig) -> tuple[int, int]:
    """How many replicas train, and in how many synchronous processes."""
    strategy = config.train_distribute
    if strategy is None or not strategy.num_replicas_in_sync > 1:
        return max(1, config.num_worker_replicas), 1
    replicas = strategy.num_replicas_in_sync
    return replicas, replicas // max(1, len(strategy.extended.worker_devices))


def loss_hooks(
    context: EstimatorContext, step: Step, step_read: tf.Tensor, settle: Callable[[], None]
) -> list[Any]:
    """The check for NaN and the log of the loss.

    Args:
      context: The estimator that is trained.
      step: The training step.
      step_read: Tensor of the global step before that step.
      settle: Waits for a checkpoint that is being written.
    """
    hooks: list[Any] = [NanLossHook(step.spec.loss, step.global_step, context.model_dir, settle)]
    every = context.config.log_step_count_steps
    if every:
        shown = {"loss": step.spec.loss, "step": step_read}
        hooks.append(tf.compat.v1.train.LoggingTensorHook(shown, every_n_iter=every))
    return hooks


class _InOneCall:
    """Asks for the global step after the step, and answers with it what the hook asks then.

    TensorFlow's hooks read it in a session call of its own, which takes as long as a small step.

    Args:
      step_after: Tensor of the global step after a step.
      **arguments: The hook's own.
    """

    keeps_cadence = True

    def __init__(self, step_after: tf.Tensor, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._step_after = step_after

    def before_run(self, run_context: RunContext) -> RunArgs:
        own = super().before_run(run_context).fetches  # type: ignore[misc]
        return RunArgs({"own": own, "after": self._step_after})

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        del run_context
        found = run_values.results
        own = RunValues(found["own"], run_values.options, run_values.run_metadata)
        super().after_run(_Answer(found["after"]), own)  # type: ignore[misc]


class StepCounter(_InOneCall, tf.compat.v1.train.StepCounterHook):
    """Writes `global_step/sec`."""


class SummarySaver(_InOneCall, tf.compat.v1.train.SummarySaverHook):
    """Writes the summaries."""


class _Answer:
    """Stands for a run's context, whose session is asked for the global step and nothing else."""

    def __init__(self, step: int) -> None:
        self.session = self
        self._step = step

    def run(self, fetches: Any) -> int:
        del fetches
        return self._step


class HistoryHook(Hook):
    """Writes a line every so many steps, the first after the first step.

    Args:
      model_dir: The directory of the file.
      every_n_steps: Steps between lines.
      loss: The loss, a scalar tensor.
      step_read: Tensor of the global step before a step.
      batch_size: Tensor of the examples in a step of this process, or None.
      replicas: Copies of the model that are trained.
      processes: Processes that they are in.
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
        self._seen = 0
        self._next: int | None = None
        self._since: tuple[int, float] | None = None

    def steps_until_due(self, global_step: int) -> int:
        """Steps up to and with the next line's."""
        return 1 if self._next is None else self._next - global_step

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts the steps of a loop."""
        self._seen += steps

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Goes on with the file."""
        self._history = self._history or History(self._model_dir)

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Asks for the loss where a line is due."""
        self._due = self._seen % self._every == 0
        return RunArgs(self._fetches) if self._due else None

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the line."""
        self._seen += 1
        if not self._due:
            return
        found = run_values.results
        step = int(found["before"]) + 1
        self._next = step + self._every
        entry = {"loss": found["loss"], "replicas": self._replicas}
        now = time.monotonic()
        if self._since is not None:
            rate = (step - self._since[0]) / max(now - self._since[1], 1e-9)
            entry["steps_per_sec"] = rate
            if "examples" in found:
                entry["examples_per_sec"] = rate * found["examples"] * self._processes
        self._since = (step, now)
        assert self._history is not None
        self._history.append(step, entry)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Closes the file."""
        if self._history is not None:
            self._history.close()


class NanLossHook(tf.compat.v1.train.NanTensorHook):
    """Stops training when the loss is NaN, with an error that names what is not finite.

    Args:
      loss: The loss, a scalar tensor.
      global_step: The global step, a variable.
      model_dir: Where the checkpoints are.
      settle: Waits for a checkpoint that is being written.
    """

    def __init__(
        self,
        loss: tf.Tensor,
        global_step: tf.Variable,
        model_dir: str,
        settle: Callable[[], None],
    ) -> None:
        super().__init__(loss)
        self._global_step = global_step
        self._model_dir = model_dir
        self._settle = settle

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Keeps the session, in which a NaN is looked into."""
        del coord
        self._session = session

    def steps_until_due(self, global_step: int) -> None:
        """No step by itself: a loop ends at the first loss that is not finite."""

    def after_loop(self, steps: int, loss: Any) -> None:
        """Looks at the last loss of a loop."""
        self._check(loss)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Looks at the loss of a step."""
        self._check(run_values.results)

    def _check(self, loss: Any) -> None:
        if np.isnan(loss):
            _LOG.error("Model diverged with loss = NaN.")
            self._settle()
            graph_step = self._session.run(self._global_step)
            raise NanLossError(findings(self._session, graph_step, self._model_dir))
