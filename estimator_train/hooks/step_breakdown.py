"""Where the time of a training step goes, and what slows training down."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.hook_types import Place, PlacedHook, RunArgs, RunContext, RunValues
from estimator_train.hooks.input_wait import InputWait
from estimator_train.hooks.step_trace import StepTrace, read_trace

_LOG = tf.get_logger()
_FIRST_TRACE = 10

_VERDICTS = {
    "input": "input-bound: {:.0%} of each step waits for data",
    "device": "compute-bound: {:.0%} of each step is the model's own operations",
    "host": "host-bound: {:.0%} of each step is overhead of Python and of session calls",
    "hooks": "hook-bound: {:.0%} of each step is spent in hooks",
}


class StepBreakdown(PlacedHook):
    """Splits the time of a step into waiting for input, device work, host and hooks.

    The time in session calls, in hooks and between them is measured throughout, but for the first
    call of each kind, which prepares the graph. Of a call, the wait for input is what a clock in
    the graph measures in each step, in loops too; the device's work is what the operations of some
    steps take that are traced, whose own calls, which take longer, are not counted; the rest is
    host.

    All this needs an Estimator: hooks then are all other hooks, the Estimator's own (checkpoints,
    summaries, logging) included. In a session of one's own, hooks are host, and the wait for input
    is that of the traced steps.

    Args:
      every_n_steps: Steps from one that is traced to the next; the first is the tenth step.
      clock: Returns the time in seconds; a monotonic clock by default.

    Raises:
      ValueError: `every_n_steps` is not positive.
    """

    place = Place.BEFORE_ALL

    def __init__(
        self, every_n_steps: int = 100, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        if every_n_steps <= 0:
            raise ValueError(f"every_n_steps must be positive, but got {every_n_steps}.")
        self._every = every_n_steps
        self._clock = clock
        self.other_end = _OtherEnd(self)
        self._wait: InputWait | None = None
        self.begin()

    def begin(self) -> None:
        """Forgets the steps of an earlier session."""
        self._secs = {"host": 0.0, "hooks": 0.0, "call": 0.0}
        self._steps = self._call_steps = 0
        self._call_secs = 0.0
        self._prepared: set[str] = set()
        self._traces: list[StepTrace] = []
        self._next_trace = _FIRST_TRACE
        self._traced = False
        self._last: float | None = None
        self._waited: float | None = None

    def measured(self, train_op: Any) -> Any:
        """Puts clocks into a step: called by the Estimator before it builds loops."""
        self._wait = InputWait(train_op)
        return self._wait.train_op

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Starts the clocks of the graph."""
        del coord
        if self._wait:
            self._wait.reset(session)

    def steps_until_due(self, global_step: int) -> int:
        """Steps up to and with the next that is traced."""
        del global_step
        self._lap("host")
        return self._next_trace - self._steps + 1

    def before_run(self, run_context: RunContext) -> RunArgs | None:
        """Asks for a trace where it is time for one."""
        self._lap("host")
        if self._steps == 1 and self._wait:
            # The first step waited for the input to start.
            self._wait.reset(run_context.session)
        self._traced = self._steps >= self._next_trace
        if not self._traced:
            return None
        self._next_trace = self._steps + self._every
        return RunArgs(None, options=_trace_options())

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Counts a step, and reads its trace."""
        del run_context
        self._end_call("trace" if self._traced else "step", 1)
        if self._traced:
            self._traces.append(read_trace(run_values.run_metadata.step_stats))
            self._lap(None)  # Reading it does not count as training.

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts the steps of a loop."""
        del loss
        self._end_call("loop", steps)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Logs the report."""
        if self._wait and self._wait.found and self._steps > 1:
            self._waited = self._wait.read(session) / (self._steps - 1)
        _LOG.info("%s", self.report())

    @property
    def split(self) -> dict[str, float]:
        """Mean seconds of a step by what they were spent on: input, device, host and hooks.

        It is there when training has ended.

        Raises:
          ValueError: There were too few steps.
        """
        if not self._traces or not self._call_steps:
            raise ValueError(
                f"StepBreakdown needs more than {_FIRST_TRACE + 1} steps, and saw fewer."
            )
        call = self._call_secs / self._call_steps
        input_wait, device = (float(mean) for mean in np.mean(self._traces, axis=0))
        input_wait = min(call, input_wait if self._waited is None else self._waited)
        # In a loop operations run back to back, faster than where each of them is traced.
        device = min(call - input_wait, device)
        between = self._secs["host"] / self._steps
        return {
            "input": input_wait,
            "device": device,
            "host": call - input_wait - device + between,
            "hooks": self._secs["hooks"] / self._steps,
        }

    def report(self) -> str:
        """Returns one line: what holds training back, and the milliseconds of each part."""
        try:
            split = self.split
        except ValueError as error:
            return f"no breakdown of the steps: {error}"
        total = sum(split.values())
        most = max(split, key=lambda part: split[part])
        parts = ", ".join(f"{name} {1000 * secs:.3g}" for name, secs in split.items())
        return f"{_VERDICTS[most].format(split[most] / total)} ({parts} ms)"

    def _lap(self, part: str | None) -> float:
        """Counts the seconds since the last mark for a part of the step."""
        now = self._clock()
        passed = 0.0 if self._last is None else now - self._last
        self._last = now
        if part is not None:
            self._secs[part] += passed
        return passed

    def _end_call(self, kind: str, steps: int) -> None:
        passed = self._lap("call")
        self._steps += steps
        if kind in self._prepared and kind != "trace":
            self._call_secs += passed
            self._call_steps += steps
        self._prepared.add(kind)


class _OtherEnd(PlacedHook):
    """Stands behind all other hooks, so that the time between it and the first hook is theirs.

    Args:
      breakdown: The hook that stands before all others.
    """

    place = Place.AFTER_ALL

    def __init__(self, breakdown: StepBreakdown) -> None:
        self._breakdown = breakdown

    def before_run(self, *_: Any) -> None:
        """Ends the hooks' part, as it does at every event."""
        self._breakdown._lap("hooks")

    after_run = steps_until_due = after_loop = before_run


def _trace_options() -> tf.compat.v1.RunOptions:
    """A trace of operations; where there are GPUs, of their kernels as well, which costs more."""
    options = tf.compat.v1.RunOptions
    with_gpus = bool(tf.config.list_physical_devices("GPU"))
    return options(trace_level=options.FULL_TRACE if with_gpus else options.SOFTWARE_TRACE)
