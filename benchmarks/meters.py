"""Meters of a measurement: times of steps, epochs and calls, and the peak memory."""

import resource
import tempfile
import time
from collections.abc import Callable
from statistics import median
from types import ModuleType
from typing import Any


def make_window_clock(window: int, output_dir: str) -> Any:
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


def make_step_clock() -> Any:
    """Returns a hook that records the times of the first and the last step; others may loop."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        first: float | None = None
        last: float | None = None

        def steps_until_due(self, global_step: int) -> int | None:
            return 1 if self.first is None else None

        def after_loop(self, steps: int, loss: object) -> None:
            self.last = time.perf_counter()

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.last = time.perf_counter()
            self.first = self.first or self.last

    return Clock()


def measure_start(train: Callable[[str, Any], Any]) -> float:
    """Returns the milliseconds from the end of `import tensorflow` to the end of the first step.

    They include loading tf.estimator and Keras, which TensorFlow does at their first use.

    Args:
      train: Function of a model_dir and a hook that trains one step.
    """
    import tensorflow  # noqa: F401

    start = time.perf_counter()
    clock = make_step_clock()
    with tempfile.TemporaryDirectory() as model_dir:
        train(model_dir, clock)
    return 1e3 * (clock.first - start)


def make_epoch_clock(keras: ModuleType, window: int) -> tuple[list[tuple[int, float]], Any]:
    """Returns a list of (step, time in seconds), and the callback that fills it each epoch.

    Args:
      keras: The Keras of the callback.
      window: Number of steps in an epoch.
    """
    marks: list[tuple[int, float]] = []
    callback = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: marks.append(((epoch + 1) * window, time.time()))
    )
    return marks, callback


def measure_milliseconds(call: Callable[[], Any], times: int) -> float:
    """Returns the median milliseconds of a call, without the first sixth of the calls."""
    secs = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        secs.append(time.perf_counter() - start)
    return 1e3 * median(secs[times // 6 :])


def read_peak_memory() -> float:
    """Returns the peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
