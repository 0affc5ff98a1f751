"""Hooks that write the event file of a training: steps per second, and summaries."""

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.hook_types import Hook, Loss, RunArgs, RunContext, RunValues

_LOG = tf.get_logger()
_STEP_RATE = "global_step/sec"
_EXAMPLE_RATE = "examples/sec"


def make_event_hooks(
    context: EstimatorContext, step_after: tf.Tensor, scaffold: tf.compat.v1.train.Scaffold
) -> list[Hook]:
    """Returns the hooks that write steps per second and summaries; none in a task without events.

    Args:
      context: The estimator that is trained.
      step_after: Tensor of the global step after a step.
      scaffold: The Scaffold of the session, with its summary_op.
    """
    config, model_dir = context.config, context.model_dir
    if not context.topology.writes_events:
        return []
    hooks: list[Hook] = []
    if every := config.log_step_count_steps:
        hooks.append(StepRateHook(step_after, every, model_dir, context.examples_per_step))
    if every := config.save_summary_steps:
        hooks.append(SummaryHook(step_after, every, model_dir, scaffold))
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
