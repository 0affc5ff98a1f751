"""Copies of the last checkpoint, and of a step after it, in the memory of this machine.

`estimator-train launch` provides a directory in shared memory. The process that has written a
checkpoint copies its files there; a restarted task restores the copy, if the checkpoint's files are
still those that were copied. Between two checkpoints the process also writes an interim copy: the
values of a later step, which a restarted task restores instead of that checkpoint. Without the
directory, or without room in it, nothing is copied.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.cluster.launched import INTERIM_FILE, MEMORY_VARIABLE

_LOG = tf.get_logger()
_INDEX = "copy.json"
_CHECKPOINT_PREFIX, _INTERIM_PREFIX = "checkpoint-", "interim-"
_INTERIM_NAME = "values"
# A copy takes a quarter of the free memory at most; two exist while one replaces the other.
_MAX_SHARE = 0.25


def keep_copy(path: str, files: Sequence[Sequence[Any]]) -> None:
    """Copies the files of a checkpoint into shared memory, and removes the copy before the last.

    Args:
      path: The checkpoint's path prefix.
      files: The fingerprints of its files, each with the file's path first and its size second.
    """
    directory = os.environ.get(MEMORY_VARIABLE)
    if not directory or not files:
        return
    try:
        if not _has_room(directory, sum(int(file[1]) for file in files)):
            return
        folder = tempfile.mkdtemp(prefix=_CHECKPOINT_PREFIX, dir=directory)
        for file in files:
            name = os.path.basename(str(file[0]))
            tf.io.gfile.copy(str(file[0]), os.path.join(folder, name))
        before = _read(_INDEX).get("folder")
        _write(directory, _INDEX, {"path": path, "files": files, "folder": folder})
        _remove_folders(directory, _CHECKPOINT_PREFIX, (folder, before))
    except (OSError, tf.errors.OpError) as error:
        _LOG.info("%s was not copied into memory: %s", path, error)


def find_copy(path: str, files: Sequence[Sequence[Any]]) -> str | None:
    """Returns the path prefix of a checkpoint's copy; None if there is none of these files.

    Args:
      path: The checkpoint's path prefix.
      files: The fingerprints of its files now.
    """
    return _find(_INDEX, path, files, os.path.basename(path))


def keep_interim_copy(size: int, write: Callable[[str], object]) -> bool:
    """Writes the values of a step after the last checkpoint into shared memory.

    The copy counts as long as that checkpoint is the latest. It replaces the one before it when it
    is complete.

    Args:
      size: Size of the values in bytes.
      write: Function that writes the files of the values, with the path prefix that it is given.

    Returns:
      Whether the values were written.
    """
    directory = os.environ.get(MEMORY_VARIABLE)
    if not directory:
        return False
    try:
        checkpoint = _read(_INDEX)
        if not checkpoint or not _has_room(directory, size):
            return False
        folder = tempfile.mkdtemp(prefix=_INTERIM_PREFIX, dir=directory)
        write(os.path.join(folder, _INTERIM_NAME))
        _write(directory, INTERIM_FILE, {**checkpoint, "folder": folder})
        _remove_folders(directory, _INTERIM_PREFIX, (folder,))
    except (OSError, tf.errors.OpError) as error:
        _LOG.info("The values of a step were not copied into memory: %s", error)
        return False
    return True


def find_interim_copy(path: str, files: Sequence[Sequence[Any]]) -> str | None:
    """Returns the path prefix of the values of a step after a checkpoint; None without a copy.

    Args:
      path: The path prefix of the checkpoint, which must be the latest.
      files: The fingerprints of its files now.
    """
    return _find(INTERIM_FILE, path, files, _INTERIM_NAME)


def drop_interim_copy() -> None:
    """Makes the next session of this job continue from the checkpoint."""
    directory = os.environ.get(MEMORY_VARIABLE)
    if directory:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(directory, INTERIM_FILE))


def _has_room(directory: str, size: int) -> bool:
    return size <= _MAX_SHARE * shutil.disk_usage(directory).free


def _remove_folders(directory: str, prefix: str, kept: Sequence[str | None]) -> None:
    for entry in os.scandir(directory):
        if entry.name.startswith(prefix) and entry.path not in kept:
            shutil.rmtree(entry.path, ignore_errors=True)


def _find(index: str, path: str, files: Sequence[Sequence[Any]], name: str) -> str | None:
    """Returns the path prefix of a copy that belongs to a checkpoint with these files, or None."""
    found = _read(index)
    if found.get("path") != path or found.get("files") != [list(file) for file in files]:
        return None
    copy = os.path.join(found["folder"], name)
    return copy if os.path.exists(copy + ".index") else None


def _read(name: str) -> dict[str, Any]:
    """Returns the description of a copy; empty if there is none."""
    directory = os.environ.get(MEMORY_VARIABLE)
    if directory:
        path = os.path.join(directory, name)
        with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            return dict(json.load(file))
    return {}


def _write(directory: str, name: str, description: dict[str, Any]) -> None:
    path = os.path.join(directory, name)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(description, file)
    os.replace(f"{path}.new", path)
