"""Stopping at a global step that counts only once its checkpoint is written."""

import time

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import read_saved_global_step
from estimator_train.engine.hook_types import GlobalStepHook, Hook, RunContext, RunValues
from estimator_train.estimator import Estimator


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Hook:
    """Makes a hook that stops training when a checkpoint of `last_step` is written.

    Parameter servers that restart go back to the last checkpoint. So workers train on beyond
    last_step, slowly, until the chief has written the checkpoint that ends the training.

    Args:
      estimator: The Estimator that is trained.
      last_step: The global step to stop at.
      wait_after_file_check_secs: Seconds that a worker beyond last_step waits after it looked for
        the checkpoint and did not find it, before it trains one more step.

    Returns:
      The hook: for the chief, who writes the checkpoint, a StopAtStepHook.

    Raises:
      ValueError: last_step is missing.
    """
    if last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if estimator.config.is_chief:
        return tf.compat.v1.train.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator, last_step, wait_after_file_check_secs)


class _StopAtCheckpointStep(GlobalStepHook):
    """Stops a worker when another process has written a checkpoint of the last step."""

    def __init__(self, estimator: Estimator, last_step: int, wait_secs: float) -> None:
        self._estimator = estimator
        self._last_step = last_step
        self._wait_secs = wait_secs

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Looks for the checkpoint of the last step, after that step."""
        if run_values.results + 1 < self._last_step:
            return
        if read_saved_global_step(self._estimator.model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)
