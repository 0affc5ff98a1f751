"""How many CPUs this process may use, by the control group that a container puts it in.

TensorFlow counts the CPUs of the machine that it may be scheduled on; a container's limit is a
share of their time, which it does not see. Threads beyond the limit only wait for one another.
"""

import math
import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

_MEMBERSHIP = "/proc/self/cgroup"
_ROOT = PurePosixPath("/sys/fs/cgroup")


def threads_that_fit() -> int | None:
    """Threads that a pool should have; None where TensorFlow's own count is right."""
    limit = cpu_limit(_text_of)
    if limit is None:
        return None
    threads = max(1, math.ceil(limit))
    return threads if threads < _schedulable() else None


def cpu_limit(read: Callable[[str], str | None]) -> float | None:
    """The CPUs' worth of time that a process may use.

    Args:
      read: Returns the text of a file by its absolute path, None where there is none.

    Returns:
      The least of the limits on the process's control groups and those above them, of cgroup v2
      and v1; None without a limit.
    """
    limits = []
    for line in (read(_MEMBERSHIP) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found = [_quota_v2(read(f"{place}/cpu.max")) for place in _upwards(_ROOT, path)]
        elif "cpu" in controllers.split(","):
            # A system mounts the controllers under their joint name, and often under each name.
            found = [
                _share(read(f"{place}/cpu.cfs_quota_us"), read(f"{place}/cpu.cfs_period_us"))
                for mount in (controllers, "cpu")
                for place in _upwards(_ROOT / mount, path)
            ]
        else:
            continue
        limits += [limit for limit in found if limit is not None]
    return min(limits, default=None)


def _upwards(root: PurePosixPath, path: str) -> Iterator[PurePosixPath]:
    """A group's directory and those above it; a container may see its own group as the root."""
    place = PurePosixPath(path.lstrip("/"))
    yield root / place
    for parent in place.parents:
        yield root / parent


def _quota_v2(text: str | None) -> float | None:
    quota, _, period = (text or "").partition(" ")
    return _share(quota, period)


def _share(quota: str | None, period: str | None) -> float | None:
    """CPUs that microseconds in a period come to; None for "max", -1 and what is not a number."""
    try:
        used, of = int(quota or ""), int(period or "")
    except ValueError:
        return None
    return used / of if used > 0 and of > 0 else None


def _text_of(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _schedulable() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
