"""Hooks that measure steps: the time of each, and a TensorBoard profile of a range."""

import re
import time
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np
import tensorflow as tf

from estimator_train.engine.types import GlobalStepHook, Hook, RunArgs, RunContext, RunValues

_LOG = tf.get_logger()


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


class ProfileHook(GlobalStepHook):
    """Hook that writes a profile of a range of global steps.

    The profile covers the complete process: operations with their threads and devices, and the
    number of each step. TensorBoard's profile plugin reads it from `plugins/profile` in
    `output_dir`. The profiled steps run one by one; other steps may run in loops.

    Args:
      steps: (start, stop), or "start:stop". The range begins after global step `start` and
        includes global step `stop`, so 100:110 has ten steps.
      output_dir: Directory with event files for TensorBoard, such as the model_dir.

    Raises:
      ValueError: `steps` is not a range of steps, or is empty.
    """

    def __init__(self, steps: tuple[int, int] | str, output_dir: str) -> None:
        self._start, self._stop = profile_range(steps)
        self._output_dir = output_dir
        self._is_running = False
        self._is_done = False

    def begin(self) -> None:
        """Finds the global step in the graph."""
        super().begin()
        self._step_trace: tf.profiler.experimental.Trace | None = None

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Reads the global step at the start of training."""
        self._step = int(session.run(tf.compat.v1.train.get_global_step()))
        if self._step >= self._stop and not self._is_done:
            self._is_done = True
            self._warn("training begins at global step %d", self._step)

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the number of steps to the end of the next profiled step, or None if done."""
        return None if self._is_done else max(1, self._start + 1 - global_step)

    def after_loop(self, steps: int, loss: float) -> None:
        """Counts the steps of a loop."""
        self._step += steps

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Starts the profile before the first step of the range, and traces each step."""
        if self._is_done:
            return None
        if not self._is_running and self._step >= self._start:
            self._start_profile()
        if self._is_running:
            step = self._step + 1
            self._step_trace = tf.profiler.experimental.Trace("train", step_num=step, _r=1)
            self._step_trace.__enter__()
        return super().before_run(run_context)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Writes the profile after the last step of the range."""
        self._end_step_trace()
        if self._is_done:
            return
        self._step = int(run_values.results) + 1
        if self._is_running and self._step >= self._stop:
            self.close()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Writes a shorter profile if training ends within the range."""
        if not self._is_done and not self._is_running:
            self._warn("training ended at global step %d", self._step)
        self.close()

    def close(self) -> None:
        """Writes a profile that was started. Call this after an error in training."""
        if self._is_running:
            self._end_step_trace()
            self._is_running, self._is_done = False, True
            tf.profiler.experimental.stop()
            _LOG.info(
                "Wrote the profile of steps %d:%d to %s.", self._start, self._stop, self._output_dir
            )

    def _start_profile(self) -> None:
        try:
            tf.profiler.experimental.start(self._output_dir)
            self._is_running = True
        except tf.errors.AlreadyExistsError:
            self._is_done = True
            self._warn("another profile is running")

    def _end_step_trace(self) -> None:
        if self._step_trace is not None:
            self._step_trace.__exit__(None, None, None)
            self._step_trace = None

    def _warn(self, reason: str, *arguments: int) -> None:
        text = f"Did not profile steps %d:%d: {reason}."
        _LOG.warning(text, self._start, self._stop, *arguments)


def profile_range(steps: tuple[int, int] | str) -> tuple[int, int]:
    """Parses a range of steps.

    Args:
      steps: (start, stop), or "start:stop".

    Returns:
      (start, stop), with 0 <= start < stop.

    Raises:
      ValueError: `steps` is not such a range.
    """
    if isinstance(steps, str):
        match = re.fullmatch(r"(\d+):(\d+)", steps)
        numbers = tuple(int(part) for part in match.groups()) if match else ()
    else:
        numbers = tuple(steps)
    is_pair = len(numbers) == 2 and all(
        isinstance(step, int) and not isinstance(step, bool) for step in numbers
    )
    if not is_pair or not 0 <= numbers[0] < numbers[1]:
        raise ValueError(
            f"The steps to profile must be START:STOP with START < STOP, such as 100:110, "
            f"got {steps!r}."
        )
    return numbers[0], numbers[1]
