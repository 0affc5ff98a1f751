"""Filters of exported models by version: `tensorflow.python.estimator.gc`.

A path is a directory and its version. A filter selects paths, for example those to
keep or those to delete.
"""

import collections
import heapq
import os
import re
from collections.abc import Callable, Iterable

import tensorflow as tf

Path = collections.namedtuple("Path", "path export_version")
Filter = Callable[[Iterable[Path]], list[Path]]


def largest_export_versions(n: int) -> Filter:
    """Returns a filter that selects the `n` largest versions."""
    return lambda paths: sorted(heapq.nlargest(n, paths, key=lambda path: path.export_version))


def one_of_every_n_export_versions(n: int) -> Filter:
    """Returns a filter that selects the largest version of each interval of `n` versions."""

    def choose(paths: Iterable[Path]) -> list[Path]:
        latest: dict[int, Path] = {}
        for path in sorted(paths, key=lambda path: path.export_version):
            latest[max(0, (path.export_version - 1) // n)] = path
        return sorted(latest.values())

    return choose


def mod_export_version(n: int) -> Filter:
    """Returns a filter that selects the versions divisible by `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def union(first: Filter, second: Filter) -> Filter:
    """Returns a filter that selects the paths that either filter selects."""
    return lambda paths: sorted({*first(list(paths)), *second(list(paths))})


def negation(other: Filter) -> Filter:
    """Returns a filter that selects the paths that another filter leaves out."""
    return lambda paths: sorted(set(paths) - set(other(paths)))


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Lists the exported models in a directory, sorted.

    Args:
      base_dir: The directory.
      parser: Takes a Path without version and returns it with its version, or None to skip it.
    """
    names = (name.rstrip("/") for name in tf.io.gfile.listdir(base_dir))
    paths = (parser(Path(os.path.join(base_dir, name), None)) for name in names)
    return sorted(path for path in paths if path)


def _export_version_parser(path: Path) -> Path | None:
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if re.fullmatch(r"\d+", name) else None
