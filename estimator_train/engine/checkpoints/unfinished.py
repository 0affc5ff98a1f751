"""Files in the way of checkpoints: those of damaged checkpoints, and of writes that did not end."""

import contextlib
import os
import re
import time
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.checkpoints import storage
from estimator_train.engine.checkpoints.integrity import (
    Fingerprint,
    compute_fingerprint,
    find_damage,
    is_unchanged,
)
from estimator_train.engine.files import find_files

_LOG = tf.get_logger()
_FILES = re.compile(r"\.index|\.meta|\.data-\d{5}-of-\d{5}")
# The last two are shards of a checkpoint, in a folder or on S3.
_TEMPORARY = re.compile(
    r"-\d+(\.(index|data-\d{5}-of-\d{5})\.tempstate\d+"
    r"|_temp(_[0-9a-f]{32})?|\.part-\d{5}-of-\d{5}\..+)"
)
# A scheduler may start a job again while the old process still writes its last checkpoint.
_MIN_LEFT_SECS = 600.0
_Leftovers = dict[str, tuple[Fingerprint, ...]]
# What this process found at its first save, and when, by the path prefix of the checkpoints.
_found: dict[str, tuple[float, _Leftovers]] = {}


def set_aside_damaged(path: str) -> None:
    """Moves the files of a damaged checkpoint that is about to be overwritten to `damaged/`.

    Args:
      path: The path prefix of the checkpoint that is written next.
    """
    with contextlib.suppress(tf.errors.OpError, OSError):  # The write meets the same fault.
        if not storage.is_file(path + ".index") or is_unchanged(path):
            return
        damage = find_damage(path)
        if damage is None:
            return
        directory, name = os.path.split(path)
        target = os.path.join(directory, "damaged")
        tf.io.gfile.makedirs(target)
        for file in tf.io.gfile.listdir(directory):
            if file.startswith(name) and _FILES.fullmatch(file[len(name) :]):
                moved = os.path.join(target, file)
                tf.io.gfile.rename(os.path.join(directory, file), moved, overwrite=True)
        _LOG.warning("The damaged files of %s are in %s now: %s.", path, target, damage)


def remove_unfinished(path: str) -> None:
    """Removes the files of a checkpoint that could not be written, as far as possible.

    Files with an index stay: they may be a complete checkpoint of the same step.
    """
    with contextlib.suppress(tf.errors.OpError, OSError):  # A fault is no proof of a missing index.
        if storage.is_file(path + ".index"):
            return
        for left in (*find_files(path, "_temp*"), *find_files(path, ".*")):
            remove = tf.io.gfile.rmtree if tf.io.gfile.isdir(left) else tf.io.gfile.remove
            remove(left)


def remove_leftovers(save_path: str, clock: Callable[[], float] = time.monotonic) -> None:
    """Removes the temporary files of checkpoints that killed processes were writing.

    The first call of a process finds them. A call at least 10 minutes later removes those that
    have not changed. The caller writes no checkpoint at that time.

    Args:
      save_path: Path prefix of the checkpoints, without the step.
      clock: Returns the time in seconds.
    """
    with contextlib.suppress(tf.errors.OpError, OSError):  # The next save tries again.
        if save_path not in _found:
            leftovers = _find_leftovers(save_path)
            _found[save_path] = clock(), leftovers
            return
        found_at, found = _found[save_path]
        if not found or clock() < found_at + _MIN_LEFT_SECS:
            return
        present = _find_leftovers(save_path)
        unchanged = {path: files for path, files in found.items() if present.get(path) == files}
        for path in unchanged:
            (tf.io.gfile.rmtree if tf.io.gfile.isdir(path) else tf.io.gfile.remove)(path)
        _found[save_path] = found_at, {}
        files = [file for files in unchanged.values() for file in files]
        if files:
            _LOG.info(
                "Removed %d files (%d bytes) in %s, which killed processes left of checkpoints.",
                len(files),
                sum(int(file[1]) for file in files),
                os.path.dirname(save_path),
            )


def _find_leftovers(save_path: str) -> _Leftovers:
    """Returns the fingerprints of the files of each leftover, by the path of that or its folder."""
    directory, base = os.path.split(save_path)
    leftovers = {}
    for name in tf.io.gfile.listdir(directory or "."):
        name = name.rstrip("/")
        if name.startswith(base) and _TEMPORARY.fullmatch(name[len(base) :]):
            path = os.path.join(directory, name)
            files = [path] if not tf.io.gfile.isdir(path) else _list_files(path)
            leftovers[path] = tuple(map(compute_fingerprint, files))
    return leftovers


def _list_files(directory: str) -> list[str]:
    walk = tf.io.gfile.walk(directory)
    return [os.path.join(folder, name) for folder, _, names in walk for name in names]
