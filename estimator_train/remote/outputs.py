"""Outputs that libraries write to a disk only: they are written there, then copied to a store."""

import contextlib
import os
import tempfile
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.remote.checks import check_output_directory


def has_scheme(path: str) -> bool:
    """Returns whether a path is one of a store."""
    return "://" in path


def output_exists(path: str) -> bool:
    """Returns whether there is a file or directory of that path, local or remote.

    Args:
      path: The path of a new output.

    Raises:
      ValueError: A store does not take the output; see `check_output_directory`.
    """
    if not has_scheme(path):
        return os.path.exists(path)
    check_output_directory(os.path.dirname(path.rstrip("/")))
    return bool(tf.io.gfile.exists(path))


def make_output_directory(path: str) -> None:
    """Creates a directory for outputs, local or remote; one that exists is no error.

    Args:
      path: The directory.

    Raises:
      ValueError: A store does not take the outputs; see `check_output_directory`.
    """
    if not has_scheme(path):
        os.makedirs(path, exist_ok=True)
        return
    check_output_directory(path)
    tf.io.gfile.makedirs(path)


@contextlib.contextmanager
def write_locally(path: str) -> Iterator[str]:
    """Yields a local path for a file or directory, which is at `path` after the block.

    Args:
      path: The path of the output. A local path is yielded unchanged.

    Raises:
      FileExistsError: A remote path is a directory that exists.
      ValueError: A store does not take the output; see `check_output_directory`.
    """
    if not has_scheme(path):
        yield path
        return
    check_output_directory(os.path.dirname(path.rstrip("/")))
    if tf.io.gfile.isdir(path):
        raise FileExistsError(f"{path} exists. Use a new directory.")
    with tempfile.TemporaryDirectory() as directory:
        local = os.path.join(directory, os.path.basename(path.rstrip("/")))
        yield local
        tf.io.gfile.makedirs(os.path.dirname(path.rstrip("/")))
        _copy(local, path.rstrip("/"))


def _copy(local: str, path: str) -> None:
    if not os.path.isdir(local):
        tf.io.gfile.copy(local, path, overwrite=True)
        return
    tf.io.gfile.makedirs(path)
    for name in sorted(os.listdir(local)):
        _copy(os.path.join(local, name), f"{path}/{name}")
