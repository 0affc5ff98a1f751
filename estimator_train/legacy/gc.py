"""Which exported models to keep: `tensorflow.python.estimator.gc`.

A path is a directory with its version; a filter takes paths and returns those of them to keep, or
to delete.
"""

import collections
import heapq
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

Path = collections.namedtuple("Path", "path export_version")
Filter = Callable[[Iterable[Any]], list[Any]]


def largest_export_versions(n: int) -> Filter:
    """A filter for the `n` latest versions."""
    return lambda paths: sorted(heapq.nlargest(n, paths, key=lambda path: path.export_version))


def one_of_every_n_export_versions(n: int) -> Filter:
    """A filter for the latest version of every interval of `n` versions."""

    def choose(paths: Iterable[Any]) -> list[Any]:
        latest: dict[int, Any] = {}
        for path in sorted(paths, key=lambda path: path.export_version):
            latest[max(0, (path.export_version - 1) // n)] = path
        return sorted(latest.values())

    return choose


def mod_export_version(n: int) -> Filter:
    """A filter for the versions that `n` divides."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def union(first: Filter, second: Filter) -> Filter:
    """A filter for what either filter takes."""
    return lambda paths: sorted({*first(list(paths)), *second(list(paths))})


def negation(other: Filter) -> Filter:
    """A filter for what another leaves."""
    return lambda paths: sorted(set(paths) - set(other(paths)))


def get_paths(base_dir: str, parser: Callable[[Any], Any]) -> list[Any]:
    """The paths in a directory.

    Args:
      base_dir: The directory.
      parser: Takes a Path without version; returns it with one, or None to leave it out.
    """
    names = (name.rstrip("/") for name in tf.io.gfile.listdir(base_dir))
    paths = (parser(Path(os.path.join(base_dir, name), None)) for name in names)
    return sorted(path for path in paths if path)


def _export_version_parser(path: Any) -> Any:
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if re.fullmatch(r"\d+", name) else None
