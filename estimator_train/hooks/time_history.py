"""How long each training step took."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from estimator_train.engine.hook_types import Hook, RunContext, RunValues


class TimeHistory(Hook):
    """Times every step of a session.

    A step's time runs from before the session's call to after it, in seconds; what other hooks
    do outside the call (writing a checkpoint, say) is not part of it. Steps that run in a loop
    within one call have equal shares of its time. The first steps, in which TensorFlow optimizes
    the graph and fills its caches, are the warm-up: `times` and `total_time` hold them, the other
    figures leave them out unless there are no other steps.

    Args:
      batch_size: Examples in one step over all replicas (the global batch), or None if examples
        a second are not wanted.
      warmup_steps: Number of first steps that are not typical.
      clock: Returns the time in seconds; a monotonic clock by default.

    Attributes:
      times: Seconds of each step since the session began, in order.

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
        """Forgets the steps of an earlier session."""
        self.times = []

    def before_run(self, run_context: RunContext) -> None:
        """Starts the clock of a step."""
        del run_context
        self._started = self._clock()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Notes the time of a step."""
        del run_context, run_values
        self.times.append(self._clock() - self._started)

    def steps_until_due(self, global_step: int) -> None:
        """Lets any number of steps run in a loop; it is asked just before one starts."""
        del global_step
        self._started = self._clock()

    def after_loop(self, steps: int, loss: Any) -> None:
        """Notes the time of steps that ran in a loop: an equal share for each."""
        del loss
        self.times += [(self._clock() - self._started) / steps] * steps

    @property
    def total_time(self) -> float:
        """Seconds of all steps together, the warm-up included."""
        return float(sum(self.times))

    @property
    def mean_batch_time(self) -> float:
        """Mean seconds of a step.

        Raises:
          ValueError: No step was timed.
        """
        return float(np.mean(self._typical_times()))

    @property
    def examples_per_second(self) -> float:
        """Examples of the global batch over the mean time of a step.

        Raises:
          ValueError: No step was timed, or there is no batch_size.
        """
        if self._batch_size is None:
            raise ValueError("examples_per_second needs TimeHistory(batch_size=...).")
        return self._batch_size / self.mean_batch_time

    def percentile(self, q: Any) -> Any:
        """Seconds that `q` per cent of the steps stay within.

        Args:
          q: A number from 0 to 100, or a sequence of them.

        Returns:
          A float, or an array of them for a sequence, interpolated linearly between steps.

        Raises:
          ValueError: No step was timed, or `q` is out of range.
        """
        return np.percentile(self._typical_times(), q)

    def report(self, unit: str = "examples") -> str:
        """Returns one line with the figures, such as a script would print at its end.

        Args:
          unit: What an example is called, in the plural.
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

    def _typical_times(self) -> list[float]:
        if not self.times:
            raise ValueError("TimeHistory has timed no step; give it to train(hooks=[...]) first.")
        return self.times[self._warmup_steps :] or self.times
