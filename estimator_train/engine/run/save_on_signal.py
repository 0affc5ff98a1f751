"""The end of a training on a signal: it saves a checkpoint and raises Preempted."""

import contextlib
from collections.abc import Iterator

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.hook_types import Hook, Loss, PassiveHook, RunContext, RunValues
from estimator_train.lifecycle import preemption


class PreemptionHook(PassiveHook):
    """Hook that stops training after the step or loop in which a signal arrived."""

    def after_loop(self, steps: int, loss: Loss) -> bool:
        """Returns whether a signal arrived in the loop."""
        return preemption.is_requested()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops training if a signal arrived."""
        if preemption.is_requested():
            run_context.request_stop()


@contextlib.contextmanager
def save_on_signal(watch: preemption.Watch, model_dir: str) -> Iterator[list[Hook]]:
    """Raises Preempted on a signal, after the training in the context has saved a checkpoint.

    Args:
      watch: The watch for signals.
      model_dir: Directory of the checkpoints.

    Yields:
      Hooks for the session of the training.

    Raises:
      Preempted: A signal arrived.
    """
    with watch.defer():
        yield [PreemptionHook()]
    if watch.requested:
        path = latest_checkpoint(model_dir)
        saved = f"saved {path}" if path else "nothing was saved"
        raise preemption.Preempted(f"ended by a signal; {saved}")
