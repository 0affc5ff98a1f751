"""Hook that stops training after some time."""

import time

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, RunContext, RunValues

_LOG = tf.get_logger()


class StopAfterSeconds(Hook):
    """Hook that stops training some time after its construction.

    Args:
      seconds: The time; evaluations and checkpoints count.

    Attributes:
      stopped: Whether it was this hook that stopped training.
    """

    def __init__(self, seconds: float) -> None:
        self.stopped = False
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns 1 when the time is over, otherwise None."""
        return 1 if self._is_over() else None

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops training if the time is over."""
        if self._is_over():
            _LOG.info("Stopping training: max_time of %s seconds is over.", self._seconds)
            self.stopped = True
            run_context.request_stop()

    def _is_over(self) -> bool:
        return time.monotonic() >= self._end
