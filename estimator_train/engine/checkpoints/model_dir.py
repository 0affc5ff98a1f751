"""A model_dir as a training takes it over: its lock, and the repair of its file `checkpoint`."""

import contextlib
import errno
import logging
import os
import platform
import re
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train import remote
from estimator_train.engine.checkpoints import integrity, storage
from estimator_train.engine.files import remove_checkpoint
from estimator_train.run_config import RunConfig

try:
    import fcntl
except ImportError:  # On Windows, where nothing locks a model_dir.
    fcntl = None  # type: ignore[assignment]

_FILE = ".training"
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_UNREADABLE = re.compile(r"\[[^/]+\]" if os.sep == "\\" else r"\[[^/]+\]|\\")
_LOG = tf.get_logger()


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
