"""Copy of the last checkpoint in the memory of this machine, for restarts under the launcher.

`estimator-train launch` provides a directory in shared memory. The process that has written a
checkpoint copies its files there; a restarted task restores the copy, if the checkpoint's files are
still those that were copied. Without the directory, or without room in it, nothing is copied.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.cluster.launched import MEMORY_VARIABLE

_LOG = tf.get_logger()
_INDEX = "copy.json"
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
        if sum(int(file[1]) for file in files) > _MAX_SHARE * shutil.disk_usage(directory).free:
            return
        folder = tempfile.mkdtemp(dir=directory)
        for file in files:
            name = os.path.basename(str(file[0]))
            tf.io.gfile.copy(str(file[0]), os.path.join(folder, name))
        before = _read(directory).get("folder")
        _write(directory, {"path": path, "files": files, "folder": folder})
        for entry in os.scandir(directory):
            if entry.is_dir() and entry.path not in (folder, before):
                shutil.rmtree(entry.path, ignore_errors=True)
    except (OSError, tf.errors.OpError) as error:
        _LOG.info("%s was not copied into memory: %s", path, error)


def find_copy(path: str, files: Sequence[Sequence[Any]]) -> str | None:
    """Returns the path prefix of a checkpoint's copy; None if there is none of these files.

    Args:
      path: The checkpoint's path prefix.
      files: The fingerprints of its files now.
    """
    directory = os.environ.get(MEMORY_VARIABLE)
    if not directory:
        return None
    found = _read(directory)
    if found.get("path") != path or found.get("files") != [list(file) for file in files]:
        return None
    copy = os.path.join(found["folder"], os.path.basename(path))
    return copy if os.path.exists(copy + ".index") else None


def _read(directory: str) -> dict[str, Any]:
    path = os.path.join(directory, _INDEX)
    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return dict(json.load(file))
    return {}


def _write(directory: str, description: dict[str, Any]) -> None:
    path = os.path.join(directory, _INDEX)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(description, file)
    os.replace(f"{path}.new", path)
