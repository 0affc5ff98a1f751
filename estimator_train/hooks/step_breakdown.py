"""Hook that measures which part of a training step takes the most time."""

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from google.protobuf.message import Message

from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.types import (
    HookPhase,
    InstrumentingHook,
    PhasedHook,
    RunArgs,
    RunContext,
    RunValues,
)

# Types of the operations that read a step's data from datasets and queues.
INPUT_TYPE = re.compile(r"\w*GetNext\w*|Queue(Dequeue|Read)\w*|ReaderRead\w*")
_TOTAL_NAME = "input_wait/seconds"
# Operations that only wait for other operations, which the trace lists separately.
_WRAPPERS = {"RemoteCall", "PartitionedCall", "StatefulPartitionedCall", "_Send", "_Recv"}
_TYPE = re.compile(r" = (\w+)\(")
_LOG = tf.get_logger()
_FIRST_TRACE = 10
_VERDICTS = {
    "input": "input-bound: {:.0%} of each step waits for data",
    "device": "compute-bound: {:.0%} of each step is computation of the model",
    "host": "host-bound: {:.0%} of each step is overhead of Python and of session calls",
    "hooks": "hook-bound: {:.0%} of each step is spent in hooks",
}


class InputWait:
    """Sum of the seconds that steps wait for input operations.

    Args:
      train_op: Operation or tensor that runs one training step, in a graph that has no session
        yet. The constructor adds clocks around the input operations of the graph.

    Attributes:
      has_input: Whether the graph has input operations.
      train_op: Operation that runs the step and measures it.
    """

    def __init__(self, train_op: tf.Operation | tf.Tensor) -> None:
        self._handle = tf.raw_ops.VarHandleOp(dtype=tf.float64, shape=[], shared_name=_TOTAL_NAME)
        zero = tf.constant(0, tf.float64)
        self._reset = tf.raw_ops.AssignVariableOp(resource=self._handle, value=zero)
        self._total = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=tf.float64)
        operations = train_op.graph.get_operations()
        inputs = [operation for operation in operations if INPUT_TYPE.fullmatch(operation.type)]
        self.has_input = bool(inputs)
        self.train_op = tf.group(train_op, self._add_clocks(inputs)) if inputs else train_op

    def reset(self, session: tf.compat.v1.Session) -> None:
        """Sets the sum to zero."""
        session.run(self._reset)

    def read(self, session: tf.compat.v1.Session) -> float:
        """Returns the seconds since `reset`; each step adds those of its slowest input."""
        return float(session.run(self._total))

    def _add_clocks(self, inputs: list[tf.Operation]) -> tf.Operation:
        with tf.device("/cpu:0"):
            longest = tf.reduce_max([_measure_seconds(operation) for operation in inputs])
        return tf.raw_ops.AssignAddVariableOp(resource=self._handle, value=longest)


def _measure_seconds(operation: tf.Operation) -> tf.Tensor:
    before = tf.timestamp()
    graphs.run_after(operation, before.op)
    with tf.control_dependencies([operation]):
        return tf.timestamp() - before


class StepTrace(NamedTuple):
    """Seconds of a traced step.

    Attributes:
      input_wait: Time in which only input operations ran.
      device: Time in which other operations ran, including collectives that wait for replicas.
    """

    input_wait: float
    device: float


def read_trace(step_stats: Message) -> StepTrace:
    """Reads the trace of a step.

    Args:
      step_stats: The `StepStats` of a `tf.compat.v1.RunMetadata`.
    """
    input_intervals: list[tuple[int, int]] = []
    collective_intervals: list[tuple[int, int]] = []
    compute_intervals: list[tuple[int, int]] = []
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            operation_type = _get_type(node)
            if operation_type in _WRAPPERS:
                continue
            start = node.all_start_micros
            interval = (start + node.op_start_rel_micros, start + node.op_end_rel_micros)
            if INPUT_TYPE.fullmatch(operation_type):
                input_intervals.append(interval)
            elif operation_type.startswith("Collective"):
                collective_intervals.append(interval)
            else:
                compute_intervals.append(interval)
    compute_time = _measure_union(compute_intervals)
    input_wait = _measure_union([*input_intervals, *compute_intervals]) - compute_time
    total = _measure_union([*input_intervals, *collective_intervals, *compute_intervals])
    return StepTrace(input_wait / 1e6, (total - input_wait) / 1e6)


def _get_type(node: Message) -> str:
    """Returns the type of an operation, or its name if the trace has no type (GPU kernels)."""
    match = _TYPE.search(node.timeline_label)
    return match.group(1) if match else node.node_name


def _measure_union(intervals: Iterable[tuple[int, int]]) -> int:
    """Returns the length of the union of intervals."""
    total, last_end = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, last_end))
        last_end = max(last_end, end)
    return total


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
