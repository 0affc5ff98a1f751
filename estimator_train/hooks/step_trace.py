"""Reads from the trace of a step how long it waited for input and how long it computed."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from google.protobuf.message import Message

from estimator_train.hooks.input_wait import INPUT_TYPE

# Operations that only wait for other operations, which the trace lists separately.
_WRAPPERS = {"RemoteCall", "PartitionedCall", "StatefulPartitionedCall", "_Send", "_Recv"}
_TYPE = re.compile(r" = (\w+)\(")


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
