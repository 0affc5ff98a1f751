"""Hook that times each training step."""

import time
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from estimator_train.engine.hook_types import Hook, RunContext, RunValues


class TimeHistory(Hook):
    """Hook that times every step of a session.

    The time of a step is the duration of its session call in seconds, without the work of other
    hooks outside the call, such as writing a checkpoint. If a call runs a loop of steps, each step
    gets an equal share of the time. The first steps are the warm-up, in which TensorFlow optimizes
    the graph and fills its caches: `times` and `total_time` include them, the other figures
    exclude them unless there are no other steps.

    Args:
      batch_size: Examples in one step over all replicas (the global batch); None reports no
        examples per second.
      warmup_steps: Number of warm-up steps.
      clock: Function that returns the time in seconds; a monotonic clock by default.

    Attributes:
      times: Seconds of each step since the start of the session, in order.

    Raises:
      ValueError: `batch_size` is not positive, or `warmup_steps` is negative.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        warmup_steps: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if batch_size is not None and batch_size <= 0:
            raise ValueError(f"batch_size must be positive, but got {batch_size}.")
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps must not be negative, but got {warmup_steps}.")
        self.times: list[float] = []
        self._batch_size = batch_size
        self._warmup_steps = warmup_steps
        self._clock = clock
        self._started = 0.0

    def begin(self) -> None:
        """Discards the times of an earlier session."""
        self.times = []

    def before_run(self, run_context: RunContext) -> None:
        """Starts the clock of a step."""
        self._started = self._clock()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Records the time of a step."""
        self.times.append(self._clock() - self._started)

    def steps_until_due(self, global_step: int) -> None:
        """Allows any number of steps in a loop, and starts the clock of the loop."""
        self._started = self._clock()

    def after_loop(self, steps: int, loss: float) -> None:
        """Records an equal share of the time of a loop for each of its steps."""
        self.times += [(self._clock() - self._started) / steps] * steps

    @property
    def total_time(self) -> float:
        """Sum of the seconds of all steps, including the warm-up."""
        return float(sum(self.times))

    @property
    def mean_batch_time(self) -> float:
        """Mean seconds of a step.

        Raises:
          ValueError: No step was timed.
        """
        return float(np.mean(self._compute_typical_times()))

    @property
    def examples_per_second(self) -> float:
        """Examples of the global batch divided by the mean seconds of a step.

        Raises:
          ValueError: No step was timed, or `batch_size` is None.
        """
        if self._batch_size is None:
            raise ValueError("examples_per_second needs TimeHistory(batch_size=...).")
        return self._batch_size / self.mean_batch_time

    @overload
    def percentile(self, q: float) -> np.float64: ...

    @overload
    def percentile(self, q: Sequence[float]) -> np.ndarray: ...

    def percentile(self, q: float | Sequence[float]) -> np.float64 | np.ndarray:
        """Returns percentiles of the seconds of a step.

        Args:
          q: A percentage from 0 to 100, or a sequence of percentages.

        Returns:
          The seconds that `q` per cent of the steps do not exceed, interpolated linearly between
          steps; an array for a sequence.

        Raises:
          ValueError: No step was timed, or `q` is out of range.
        """
        return np.percentile(self._compute_typical_times(), q)

    def report(self, unit: str = "examples") -> str:
        """Returns one line with all figures, for a log or for the end of a script.

        Args:
          unit: Plural name of the examples.
        """
        if not self.times:
            return "no steps timed"
        p50, p90, p99 = 1000 * self.percentile([50, 90, 99])
        line = (
            f"{len(self.times):,} steps in {self.total_time:.2f} s, "
            f"{1000 * self.mean_batch_time:.2f} ms a step "
            f"(p50 {p50:.2f}, p90 {p90:.2f}, p99 {p99:.2f})"
        )
        if self._batch_size is None:
            return line
        return f"{line}, {self.examples_per_second:,.0f} {unit}/s"

    def _compute_typical_times(self) -> list[float]:
        if not self.times:
            raise ValueError("TimeHistory has timed no step; pass it to train(hooks=[...]) first.")
        return self.times[self._warmup_steps :] or self.times
