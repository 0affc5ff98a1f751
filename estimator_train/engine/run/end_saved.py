"""Training that ends, saved, when a signal asks for it."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.engine.context import EstimatorContext
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()


class PreemptionHook(tf.compat.v1.train.SessionRunHook):
    """Asks training to stop after the step or loop in which a signal came."""

    def steps_until_due(self, global_step: int) -> None:
        """No step by itself: a loop is short."""

    def after_loop(self, steps: int, loss: Any) -> bool:
        """Whether a signal came in the loop."""
        return preemption.requested()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Asks for the stop."""
        if preemption.requested():
            run_context.request_stop()


@contextlib.contextmanager
def ending_saved(context: EstimatorContext) -> Iterator[list[tf.compat.v1.train.SessionRunHook]]:
    """Training within it ends with a checkpoint when a signal comes, and then so does the job.

    Args:
      context: The estimator that is run.

    Yields:
      Hooks for the training's session.

    Raises:
      Preempted: A signal came.
    """
    with preemption.listening(context.config.preemption):
        watch = preemption.current()
        if watch is None:
            yield []
            return
        with watch.deferring():
            yield [PreemptionHook()]
        if watch.requested:
            path = context.latest_checkpoint()
            saved = f"saved {path}" if path else "nothing was saved"
            raise preemption.Preempted(f"ended by a signal; {saved}")
