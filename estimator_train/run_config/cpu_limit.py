"""Reads the CPU limit of this process from its control group, as containers set it.

TensorFlow counts the CPUs that the process may be scheduled on. It does not see the limit of a
container, which is a share of CPU time. Threads beyond that limit only wait for each other.
"""

import math
import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

_MEMBERSHIP = "/proc/self/cgroup"
_ROOT = PurePosixPath("/sys/fs/cgroup")


def count_usable_threads() -> int | None:
    """Returns the number of threads for a pool; None if TensorFlow's own count is right."""
    limit = read_cpu_limit(_read_text)
    if limit is None:
        return None
    threads = max(1, math.ceil(limit))
    return threads if threads < _count_cpus() else None


def read_cpu_limit(read: Callable[[str], str | None]) -> float | None:
    """Returns the number of CPUs whose time a process may use.

    Args:
      read: Function of an absolute path that returns the text of the file, or None if the file does
        not exist.

    Returns:
      The smallest limit of the process's control groups and their parents, of cgroup v2 and v1;
      None without a limit.
    """
    limits = []
    for line in (read(_MEMBERSHIP) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found = [_read_quota_v2(read(f"{place}/cpu.max")) for place in _walk_up(_ROOT, path)]
        elif "cpu" in controllers.split(","):
            # Systems mount the controllers under their joint name, and often under each name.
            found = [
                _divide_quota(read(f"{place}/cpu.cfs_quota_us"), read(f"{place}/cpu.cfs_period_us"))
                for mount in (controllers, "cpu")
                for place in _walk_up(_ROOT / mount, path)
            ]
        else:
            continue
        limits += [limit for limit in found if limit is not None]
    return min(limits, default=None)


def _walk_up(root: PurePosixPath, path: str) -> Iterator[PurePosixPath]:
    """Yields a group's directory and its parents; a container may see its group as the root."""
    place = PurePosixPath(path.lstrip("/"))
    yield root / place
    for parent in place.parents:
        yield root / parent


def _read_quota_v2(text: str | None) -> float | None:
    quota, _, period = (text or "").partition(" ")
    return _divide_quota(quota, period)


def _divide_quota(quota: str | None, period: str | None) -> float | None:
    """Returns quota / period as a number of CPUs; None for "max", -1 and no number."""
    try:
        used, total = int(quota or ""), int(period or "")
    except ValueError:
        return None
    return used / total if used > 0 and total > 0 else None


def _read_text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _count_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
