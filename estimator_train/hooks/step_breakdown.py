"""Hook that measures which part of a training step takes the most time."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.hook_types import (
    HookPhase,
    InstrumentingHook,
    PhasedHook,
    RunArgs,
    RunContext,
    RunValues,
)
from estimator_train.hooks.input_wait import InputWait
from estimator_train.hooks.step_trace import StepTrace, read_trace

_LOG = tf.get_logger()
_FIRST_TRACE = 10

_VERDICTS = {
    "input": "input-bound: {:.0%} of each step waits for data",
    "device": "compute-bound: {:.0%} of each step is computation of the model",
    "host": "host-bound: {:.0%} of each step is overhead of Python and of session calls",
    "hooks": "hook-bound: {:.0%} of each step is spent in hooks",
}


class StepBreakdown(InstrumentingHook):
    """Hook that splits the time of a step into input, device, host and hooks.

    The hook measures the time in session calls, in hooks and between them, except for the first
    call of each kind, which prepares the graph. It splits the time of a call into three parts:

    - input: a clock in the graph measures the wait for input in each step, also in loops.
    - device: the duration of the operations in some steps that are traced. The calls of traced
      steps take longer and are not counted.
    - host: the remaining time.

    With an Estimator, the time of hooks includes those that the Estimator adds (checkpoints,
    summaries, logging). In another session, the time of hooks counts as host, and the wait for
    input is that of the traced steps.

    Args:
      every_n_steps: Steps between traced steps; the first traced step is the tenth.
      clock: Function that returns the time in seconds; a monotonic clock by default.

    Raises:
      ValueError: `every_n_steps` is not positive.
    """

    phase = HookPhase.BEFORE_ALL

    def __init__(
        self, every_n_steps: int = 100, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        if every_n_steps <= 0:
            raise ValueError(f"every_n_steps must be positive, but got {every_n_steps}.")
        self._every = every_n_steps
        self._clock = clock
        self.closing_hook = _ClosingHook(self)
        self._wait: InputWait | None = None
        self.begin()

    def begin(self) -> None:
        """Discards the measurements of an earlier session."""
        self._secs = {"host": 0.0, "hooks": 0.0, "call": 0.0}
        self._steps = self._call_steps = 0
        self._call_secs = 0.0
        self._prepared_calls: set[str] = set()
        self._traces: list[StepTrace] = []
        self._next_trace = _FIRST_TRACE
        self._is_tracing = False
        self._last_time: float | None = None
        self._wait_per_step: float | None = None

    def instrument(self, train_op: tf.Operation | tf.Tensor) -> tf.Operation | tf.Tensor:
        """Adds clocks to a step."""
        self._wait = InputWait(train_op)
        return self._wait.train_op

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Resets the clocks in the graph."""
        if self._wait:
            self._wait.reset(session)

    def steps_until_due(self, global_step: int) -> int:
        """Returns the number of steps to the end of the next traced step."""
        self._record_time("host")
        return self._next_trace - self._steps + 1

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Requests a trace if one is due."""
        self._record_time("host")
        if self._steps == 1 and self._wait:
            # The wait in the first step includes the start of the input.
            self._wait.reset(run_context.session)
        self._is_tracing = self._steps >= self._next_trace
        if not self._is_tracing:
            return None
        self._next_trace = self._steps + self._every
        return RunArgs(None, options=_make_trace_options())

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Counts a step, and reads its trace."""
        self._end_call("trace" if self._is_tracing else "step", 1)
        if self._is_tracing:
            self._traces.append(read_trace(run_values.run_metadata.step_stats))
            self._record_time(None)  # The time to read the trace is not part of a step.

    def after_loop(self, steps: int, loss: float) -> None:
        """Counts the steps of a loop."""
        self._end_call("loop", steps)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Logs the report."""
        if self._wait and self._wait.has_input and self._steps > 1:
            self._wait_per_step = self._wait.read(session) / (self._steps - 1)
        _LOG.info("%s", self.report())

    @property
    def split(self) -> dict[str, float]:
        """Mean seconds of a step in each part: input, device, host and hooks.

        It is available after training.

        Raises:
          ValueError: There were too few steps.
        """
        if not self._traces or not self._call_steps:
            raise ValueError(
                f"StepBreakdown needs more than {_FIRST_TRACE + 1} steps, but training had fewer."
            )
        call = self._call_secs / self._call_steps
        traced_wait, device = (float(mean) for mean in np.mean(self._traces, axis=0))
        input_wait = traced_wait if self._wait_per_step is None else self._wait_per_step
        input_wait = min(call, input_wait)
        # Tracing makes operations slower than they are in a loop, so their sum can exceed the call.
        device = min(call - input_wait, device)
        between = self._secs["host"] / self._steps
        return {
            "input": input_wait,
            "device": device,
            "host": call - input_wait - device + between,
            "hooks": self._secs["hooks"] / self._steps,
        }

    def report(self) -> str:
        """Returns one line with the slowest part and the milliseconds of each part."""
        try:
            split = self.split
        except ValueError as error:
            return f"no breakdown of the steps: {error}"
        total = sum(split.values())
        slowest = max(split, key=lambda part: split[part])
        parts = ", ".join(f"{name} {1000 * secs:.3g}" for name, secs in split.items())
        return f"{_VERDICTS[slowest].format(split[slowest] / total)} ({parts} ms)"

    def _record_time(self, part: str | None) -> float:
        """Adds the seconds since the last record to a part of the step, and returns them."""
        now = self._clock()
        elapsed = 0.0 if self._last_time is None else now - self._last_time
        self._last_time = now
        if part is not None:
            self._secs[part] += elapsed
        return elapsed

    def _end_call(self, kind: str, steps: int) -> None:
        elapsed = self._record_time("call")
        self._steps += steps
        if kind in self._prepared_calls and kind != "trace":
            self._call_secs += elapsed
            self._call_steps += steps
        self._prepared_calls.add(kind)


class _ClosingHook(PhasedHook):
    """Hook after all other hooks. The time between `breakdown` and this hook is that of hooks.

    Args:
      breakdown: The hook before all other hooks.
    """

    phase = HookPhase.AFTER_ALL

    def __init__(self, breakdown: StepBreakdown) -> None:
        self._breakdown = breakdown

    def before_run(self, *_: Any) -> None:
        """Adds the time since the first hook to the time of hooks."""
        self._breakdown._record_time("hooks")

    after_run = steps_until_due = after_loop = before_run


def _make_trace_options() -> tf.compat.v1.RunOptions:
    """Returns options that trace operations and, which is slower, the kernels of GPUs."""
    options = tf.compat.v1.RunOptions
    with_gpus = bool(tf.config.list_physical_devices("GPU"))
    return options(trace_level=options.FULL_TRACE if with_gpus else options.SOFTWARE_TRACE)
