"""A hook that measures the steps per second of every task."""

import time
from typing import Any


def make_clock(window: int, output_dir: str) -> Any:
    """Returns a hook that records the time at the end of each window; loops remain possible.

    Args:
      window: Number of steps in a window.
      output_dir: Directory of the hook's event file.
    """
    import tensorflow as tf

    class Clock(tf.compat.v1.train.StepCounterHook):
        """Step counter for all workers; an Estimator adds one only to the chief."""

        keeps_cadence = True

        def __init__(self) -> None:
            super().__init__(every_n_steps=window, output_dir=output_dir)
            self.marks: list[tuple[int, float]] = []

        def _log_and_record(
            self, elapsed_steps: int, elapsed_time: float, global_step: int
        ) -> None:
            self.marks.append((int(global_step), time.time()))

    return Clock()
