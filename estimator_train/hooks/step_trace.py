"""What a traced step spent its time on."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from estimator_train.hooks.input_wait import INPUT_TYPE

# Operations that only wait for others; those have entries of their own.
_WRAPPERS = {"RemoteCall", "PartitionedCall", "StatefulPartitionedCall", "_Send", "_Recv"}
_TYPE = re.compile(r" = (\w+)\(")


class StepTrace(NamedTuple):
    """Seconds of a traced step.

    Attributes:
      input_wait: While input operations ran and none that works did.
      device: While any operation worked, or replicas waited for each other and none for input.
    """

    input_wait: float
    device: float


def read_trace(step_stats: Any) -> StepTrace:
    """Reads a step's trace.

    Args:
      step_stats: The `StepStats` of a RunMetadata.
    """
    waiting: list[tuple[int, int]] = []
    meeting: list[tuple[int, int]] = []
    working: list[tuple[int, int]] = []
    for device in step_stats.dev_stats:
        for node in device.node_stats:
            kind = _type_of(node)
            if kind not in _WRAPPERS:
                start = node.all_start_micros
                interval = (start + node.op_start_rel_micros, start + node.op_end_rel_micros)
                if INPUT_TYPE.fullmatch(kind):
                    waiting.append(interval)
                else:
                    (meeting if kind.startswith("Collective") else working).append(interval)
    waiting_alone = _covered([*waiting, *working]) - _covered(working)
    all_time = _covered([*waiting, *meeting, *working])
    return StepTrace(waiting_alone / 1e6, (all_time - waiting_alone) / 1e6)


def _type_of(node: Any) -> str:
    """An operation's type; its name where the trace does not tell, as of a GPU's kernels."""
    found = _TYPE.search(node.timeline_label)
    return found.group(1) if found else node.node_name


def _covered(intervals: Iterable[tuple[int, int]]) -> int:
    """The length of the union of intervals."""
    total, reached = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
