"""Training that ends, saved, when a signal asks for it."""

import contextlib
from collections.abc import Iterator
from typing import Any

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.hook_types import Hook, PassiveHook, RunContext, RunValues
from estimator_train.lifecycle import preemption


class PreemptionHook(PassiveHook):
    """Asks training to stop after the step or loop in which a signal came."""

    def after_loop(self, steps: int, loss: Any) -> bool:
        """Whether a signal came in the loop."""
        return preemption.requested()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Asks for the stop."""
        if preemption.requested():
            run_context.request_stop()


@contextlib.contextmanager
def ending_saved(watch: preemption.Watch, model_dir: str) -> Iterator[list[Hook]]:
    """Training within it ends with a checkpoint when a signal comes, and then so does the job.

    Args:
      watch: Listens for signals.
      model_dir: The directory of the checkpoints.

    Yields:
      Hooks for the training's session.

    Raises:
      Preempted: A signal came.
    """
    with watch.deferring():
        yield [PreemptionHook()]
    if watch.requested:
        path = latest_checkpoint(model_dir)
        saved = f"saved {path}" if path else "nothing was saved"
        raise preemption.Preempted(f"ended by a signal; {saved}")
