"""A model_dir as a training takes it over: its lock, its file `checkpoint`, and files in the way.

Files in the way of checkpoints are those of damaged checkpoints, and of writes that did not end.
"""

import contextlib
import errno
import logging
import os
import platform
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_train import remote
from estimator_train.engine import storage
from estimator_train.engine.checkpoints import integrity
from estimator_train.engine.checkpoints.integrity import (
    Fingerprint,
    compute_fingerprint,
    find_damage,
    is_unchanged,
)
from estimator_train.engine.storage import find_files, remove_checkpoint
from estimator_train.run_config import RunConfig

try:
    import fcntl
except ImportError:  # On Windows, where nothing locks a model_dir.
    fcntl = None  # type: ignore[assignment]

_FILE = ".training"
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_UNREADABLE = re.compile(r"\[[^/]+\]" if os.sep == "\\" else r"\[[^/]+\]|\\")
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


@contextlib.contextmanager
def lock_model_dir(config: RunConfig) -> Iterator[None]:
    """Locks the model_dir of a training until the context or the process ends.

    If another job holds the lock, this function logs a warning and training continues, as in
    tf.estimator 2.15; with `allow_shared_model_dir=False` it raises an error. Object stores have no
    lock but a lease that the job renews. A file system that refuses locks is named in the log.

    Args:
      config: The configuration of the training, with its model_dir.

    Raises:
      ValueError: Another job trains there, and `allow_shared_model_dir` is False; or TensorFlow
        could not restore checkpoints from a directory of this name.
    """
    _check_name(config)
    if "://" in config.model_dir:
        remote.check_path(config.model_dir, "model_dir")
        has_lease = config.is_chief and not config.allow_shared_model_dir
        refuses_others = config.allow_shared_model_dir is False
        lease = remote.hold_lease(config.model_dir, refuses_others)
        with lease if has_lease else contextlib.nullcontext():
            yield
        return
    path = os.path.join(config.model_dir, _FILE)
    lock = None
    if fcntl is not None and config.is_chief and not config.allow_shared_model_dir:
        try:
            os.makedirs(config.model_dir, exist_ok=True)
            lock = _acquire(path)
        except BlockingIOError as held:
            _warn_or_raise(config, held)
        except OSError as error:
            # Or the directory is not writable; then the first checkpoint raises the error.
            if error.errno in _WITHOUT_LOCKS:
                _log_missing_locks(config, error)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(path)
            os.close(lock)


def _check_name(config: RunConfig) -> None:
    """Refuses names that TensorFlow reads as patterns, if it could not restore from there."""
    model_dir = config.model_dir
    found = _UNREADABLE.search(model_dir)
    if found:
        raise ValueError(
            f"model_dir {model_dir!r} contains {found[0]!r}, which TensorFlow reads as a pattern: "
            "it writes checkpoints there, but cannot restore them. Use a path without brackets and "
            "backslashes."
        )
    if config.is_chief and ("*" in model_dir or "?" in model_dir):
        _LOG.warning(
            "TensorFlow deletes old checkpoints by a pattern: in model_dir %s, '*' and '?' also "
            "match checkpoints of other directories. Use a name without them.",
            model_dir,
        )


def _log_missing_locks(config: RunConfig, error: OSError) -> None:
    level = logging.INFO if config.allow_shared_model_dir is None else logging.WARNING
    _LOG.log(
        level,
        "The file system of %s refuses locks (%s): a second job in this model_dir would not be "
        "noticed. Let the scheduler start only one job for each model_dir.",
        config.model_dir,
        error.strerror,
    )


def _warn_or_raise(config: RunConfig, held: BlockingIOError) -> None:
    if config.allow_shared_model_dir is False:
        raise ValueError(
            f"{held} Use another model_dir, or wait for its end; --allow_shared_model_dir, or "
            "RunConfig(allow_shared_model_dir=True), trains there all the same."
        ) from None
    _LOG.warning(
        "%s Both train on, as under tf.estimator; each overwrites the other's checkpoints. Use a "
        "separate model_dir for each. RunConfig(allow_shared_model_dir=False) refuses the second; "
        "True trains without this warning.",
        held,
    )


def _acquire(path: str) -> int:
    """Returns the descriptor of the locked file.

    Raises:
      BlockingIOError: Another process holds the lock.
    """
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 200).decode(errors="replace").strip()
            os.close(file)
            raise BlockingIOError(
                f"{os.path.dirname(path)} is in use by another job ({holder or 'just started'})."
            ) from None
        except OSError:
            os.close(file)
            raise
        # The previous holder may have removed the file after this process opened it.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(file)):
                break
        os.close(file)
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    os.truncate(file, 0)
    os.write(file, f"process {os.getpid()} on {platform.node()}, since {started}\n".encode())
    return file


def repair_checkpoint_list(model_dir: str) -> None:
    """Makes the file `checkpoint` name the latest intact checkpoint, if that one is damaged.

    For the process that is about to restore it and to write there; it calls this function again if
    the restore fails (`reading.is_damaged`). The files of damaged checkpoints stay.

    Raises:
      ValueError: All checkpoints are damaged.
      StorageFaultError: The storage failed; nothing was changed.
    """
    while True:
        intact, named = integrity.choose_checkpoint(model_dir, to_restore=True)
        if intact is None:
            return
        if named and intact == named.latest:
            _warn_of_later(model_dir, intact)
            return
        paths = named.paths if named else reversed(integrity.list_on_disk(model_dir))
        step = integrity.parse_step(intact)
        older = [
            path
            for path in paths
            if integrity.parse_step(path) < step and integrity.fingerprint_checkpoint(path)
        ]
        # Another process may have written a checkpoint while this one was reading.
        if integrity.read_checkpoint_list(model_dir) == named:
            break
    names = [*older, intact]
    if os.path.isabs(model_dir):  # TensorFlow makes the names for other directories.
        names = [os.path.relpath(path, model_dir) for path in names]
    storage.retry_storage_faults(
        lambda: tf.compat.v1.train.update_checkpoint_state(
            model_dir, names[-1], all_model_checkpoint_paths=names
        ),
        f"write {os.path.join(model_dir, 'checkpoint')}",
    )
    if named:
        _LOG.warning(
            "The file 'checkpoint' of %s now names %s instead of %s. All files of the damaged "
            "checkpoint are kept.",
            model_dir,
            intact,
            named.latest,
        )


def remove_surplus(saver: Any, paths: list[str], restored: str) -> list[str]:
    """Removes the oldest checkpoints of an earlier training that kept more than a Saver keeps.

    The Saver removes only one checkpoint for each that it writes, so that all others would stay.

    Args:
      saver: The Saver of the training; one with the user's `save` is left alone.
      paths: Path prefixes of the checkpoints that the earlier training kept, the oldest first.
      restored: The one that this training begins with.

    Returns:
      The other paths.
    """
    if getattr(saver.save, "__func__", None) is not tf.compat.v1.train.Saver.save:
        return paths
    limit = saver.saver_def.max_to_keep
    surplus = [path for path in paths[:-limit] if path != restored] if limit else []
    for path in surplus:
        with contextlib.suppress(OSError, tf.errors.OpError):
            remove_checkpoint(path)
    return [path for path in paths if path not in surplus]


def _warn_of_later(model_dir: str, used: str) -> None:
    """Warns of a checkpoint that is later than the one that training begins with."""
    newest = next(iter(integrity.list_on_disk(model_dir)), used)
    if integrity.parse_step(newest) > integrity.parse_step(used):
        _LOG.warning(
            "Training continues from %s, which the file 'checkpoint' names, although %s is later. "
            "Name that one in the file to continue from it.",
            used,
            newest,
        )


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
