"""The latest intact checkpoint of a directory, also if later checkpoints are damaged.

A checkpoint counts as damaged if several readings of the same files agree on it. Each process
reads a checkpoint once, and never one that it wrote itself. Before a restore, which verifies the
checksums of all that it reads, only the index and the sizes of a large checkpoint are checked; if
the restore fails, the checkpoint is read. `storage.py` handles faults of the storage, `damage.py`
reads a checkpoint to its end.
"""

import contextlib
import dataclasses
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import tensorflow as tf
from google.protobuf import text_format

from estimator_train.engine import storage
from estimator_train.engine.checkpoints import memory_copy
from estimator_train.engine.checkpoints.damage import has_complete_data, read_checkpoint

_LOG = tf.get_logger()
_Result = TypeVar("_Result")
# A name with `.part-` is that of a shard of a checkpoint on S3 that was not completed.
_INDEX = re.compile(r"(?!.+\.part-\d{5}-of-\d{5}\.).+-\d+\.index")
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}")
_MAX_REMEMBERED = 1000
# Smaller checkpoints are read twice in less time than a failed restore takes.
_MIN_UNREAD_BYTES = 64 * 2**20
# A reading may meet a stale cache or a file that another process replaces: four must agree.
_READING_DELAYS_SECS = (0.1, 0.2, 0.4)

Fingerprint = tuple[str | int, ...]
# Fingerprints of the files of checkpoints that this process has read or written, and the damage
# of these files, by path.
_known: dict[str, tuple[tuple[Fingerprint, ...], str | None]] = {}
# The thread that last wrote a checkpoint into a directory, by its path.
_writers: dict[str, threading.Thread] = {}


@dataclasses.dataclass(frozen=True)
class CheckpointList:
    """Content of the file `checkpoint`.

    Attributes:
      latest: Path prefix of the latest checkpoint.
      paths: Path prefixes of all checkpoints, the oldest first.
    """

    latest: str
    paths: tuple[str, ...]


def latest_checkpoint(model_dir: str, *, to_restore: bool = False) -> str | None:
    """Returns the latest checkpoint, or the newest before it if that is damaged.

    If a thread of this process is writing a checkpoint there, it is complete afterwards.

    Args:
      model_dir: The directory of the checkpoints.
      to_restore: Whether a restore follows, which verifies the values of a large checkpoint.

    Returns:
      Its path prefix, or None if there are no checkpoints.

    Raises:
      ValueError: The file `checkpoint` names checkpoints, and all are damaged.
      StorageFaultError: The storage failed, so that it is not known which checkpoint is intact.
    """
    wait_for_writes(model_dir)
    return choose_checkpoint(model_dir, to_restore)[0]


def has_checkpoint(model_dir: str) -> bool:
    """Returns whether a directory has a checkpoint, intact or damaged.

    Raises:
      StorageFaultError: The storage failed.
    """
    return read_checkpoint_list(model_dir) is not None or bool(list_on_disk(model_dir))


def mark_intact(path: str) -> None:
    """Records that this process has just written a checkpoint."""
    with contextlib.suppress(tf.errors.OpError, OSError):  # Then it is read when it is used.
        files = _list_fingerprints(path)
        _remember(path, files, None)
        memory_copy.keep_copy(path, files)


def add_writer(directory: str, thread: threading.Thread) -> None:
    """Records a thread that writes a checkpoint; it replaces the last one of its directory."""
    _writers[_make_absolute(directory)] = thread


def wait_for_writes(directory: str) -> None:
    """Waits until a checkpoint that this process writes to a directory is complete.

    A hook that reads checkpoints while training runs, such as one that calls `evaluate`, finds
    the checkpoint of the last save, as if training had waited for the write.
    """
    thread = _writers.get(_make_absolute(directory))
    if thread is not None and thread is not threading.current_thread():
        thread.join()


def is_unchanged(path: str) -> bool:
    """Returns whether a checkpoint that this process found intact still has the same files."""
    return path in _known and _known[path] == (fingerprint_checkpoint(path), None)


def was_replaced(path: str) -> bool:
    """Returns whether a checkpoint was deleted, or has other files than this process read."""
    files = fingerprint_checkpoint(path)
    return not files or (path in _known and _known[path][0] != files)


def fingerprint_checkpoint(path: str) -> tuple[Fingerprint, ...]:
    """Returns the fingerprints of a checkpoint's files, paths first; none if there are no files.

    Raises:
      StorageFaultError: The storage failed.
    """
    return _retry(lambda: _list_fingerprints(path), f"find the files of {path}")


def compute_fingerprint(path: str) -> Fingerprint:
    """Returns what distinguishes a file from another of its name, as far as the storage knows.

    Raises:
      NotFoundError: The file does not exist, on a remote file system.
      FileNotFoundError: The file does not exist, on a local file system.
    """
    if "://" in path:  # TensorFlow's stat has full seconds.
        remote = tf.io.gfile.stat(path)
        return path, remote.length, remote.mtime_nsec
    local = os.stat(path)
    return path, local.st_size, local.st_mtime_ns, local.st_ino


def read_checkpoint_list(model_dir: str) -> CheckpointList | None:
    """Returns the content of the file `checkpoint`; None if it is missing or cannot be decoded.

    Raises:
      StorageFaultError: The storage failed.
    """
    path = os.path.join(model_dir, "checkpoint")
    for delay in (*_READING_DELAYS_SECS, None):
        content = _retry(lambda: _read_content(model_dir), f"read {path}")
        if content is None:
            return None
        found = _decode(model_dir, content)
        if found is not None or delay is None:
            return found
        time.sleep(delay)
    return None


def choose_checkpoint(model_dir: str, to_restore: bool) -> tuple[str | None, CheckpointList | None]:
    """Returns the latest intact checkpoint, and the list of checkpoints that it was chosen from.

    See `latest_checkpoint`.
    """
    while True:
        named = read_checkpoint_list(model_dir)
        path, damages = _find_first_intact(model_dir, named, to_restore)
        # A job that trains there may have removed a checkpoint; then it has named another.
        if not damages or read_checkpoint_list(model_dir) == named:
            break
    if path is not None and named is None:
        _LOG.warning(
            "The file 'checkpoint' of %s is missing or cannot be read; using %s.", model_dir, path
        )
    elif path is not None and damages:
        _LOG.warning("%s. Using %s instead.", "; ".join(damages), path)
    elif damages and named is None:
        _LOG.warning("The checkpoints that are left cannot be read: %s.", "; ".join(damages))
    elif damages:
        raise ValueError(
            f"No checkpoint in {model_dir} can be read ({'; '.join(damages)}). Bring one back, or "
            "remove them all to start over."
        )
    return path, named


def _find_first_intact(
    model_dir: str, named: CheckpointList | None, to_restore: bool
) -> tuple[str | None, list[str]]:
    """Returns the best intact checkpoint, or None, and the damage of all better ones."""
    damages: list[str] = []
    for path in _list_candidates(model_dir, named):
        damage = None if to_restore and _has_large_data(path) else find_damage(path)
        if damage is None:
            return path, damages
        damages.append(f"{path}: {damage}")
    return None, damages


def _has_large_data(path: str) -> bool:
    """Returns whether a checkpoint is large and has all of its data, as far as its sizes tell."""
    files = fingerprint_checkpoint(path)
    known_files, damage = _known.get(path, ((), None))
    if not is_large(files) or (damage and known_files == files):
        return False
    return has_complete_data(path, _count_data_bytes(files))


def is_large(files: Sequence[Fingerprint]) -> bool:
    """Returns whether a checkpoint with these files is too large to be read or written twice."""
    return _count_data_bytes(files) >= _MIN_UNREAD_BYTES


def _count_data_bytes(files: Sequence[Fingerprint]) -> int:
    return sum(int(file[1]) for file in files if not str(file[0]).endswith(".index"))


def find_damage(path: str) -> str | None:
    """Returns the damage of a checkpoint, or None if the checkpoint is intact.

    Args:
      path: The checkpoint's path prefix.

    Raises:
      StorageFaultError: The storage failed, so that nothing is known of the files.
    """
    files = fingerprint_checkpoint(path)
    known_files, damage = _known.get(path, (None, None))
    if known_files == files and (files or damage):
        return damage
    if files and memory_copy.find_copy(path, files):
        return None
    fault_delays, reading_delays = storage.retry_delays(), iter(_READING_DELAYS_SECS)
    while True:
        before = files
        reading = read_checkpoint(path, [str(file[0]) for file in files])
        files, fault = fingerprint_checkpoint(path), reading.fault
        if files != before:
            fault = OSError("its files changed while they were read")
        elif reading.missing and _is_listed(reading.missing):
            fault = OSError(f"{reading.missing} is listed but cannot be opened")
        if fault:
            # Files that another job replaces are no fault to log.
            storage.wait_after_fault(
                f"read the checkpoint {path}", fault, fault_delays, log=files == before
            )
            reading_delays = iter(_READING_DELAYS_SECS)
            continue
        delay = next(reading_delays, None) if reading.damage else None
        if delay is None:
            _remember(path, files, reading.damage)
            return reading.damage
        time.sleep(delay)


def _is_listed(path: str) -> bool:
    directory, name = os.path.split(path)
    names = _retry(lambda: _list_names(directory), f"list {directory}")
    return name in names and not tf.io.gfile.isdir(path)


def _list_fingerprints(path: str) -> tuple[Fingerprint, ...]:
    directory, name = os.path.split(path)
    files = [path + ".index"]
    for other in sorted(_list_names(directory)):
        if other.startswith(name) and _SHARD.fullmatch(other[len(name) :]):
            files.append(os.path.join(directory, other))
    for existing in (files, [path]):  # A checkpoint of the first format is one file.
        with contextlib.suppress(*storage.MISSING_ERRORS):
            return tuple(compute_fingerprint(file) for file in existing)
    return ()


def _list_candidates(model_dir: str, named: CheckpointList | None) -> Iterator[str]:
    """Yields paths of checkpoints, best first: those that are named, then all others."""
    listed = dict.fromkeys((named.latest, *reversed(named.paths))) if named else {}
    yield from listed
    yield from (path for path in list_on_disk(model_dir) if path not in listed)


def list_on_disk(model_dir: str) -> list[str]:
    """Returns all checkpoints in a directory by the step in their name, the latest first."""
    names = _retry(lambda: _list_names(model_dir), f"list {model_dir}")
    checkpoints = [name.removesuffix(".index") for name in names if _INDEX.fullmatch(name)]
    checkpoints.sort(key=parse_step, reverse=True)
    return [os.path.join(model_dir, name) for name in checkpoints]


def parse_step(path: str) -> int:
    """Returns the step in a checkpoint's name; -1 for a name without a step."""
    return int(path.rpartition("-")[2]) if re.search(r"-\d+$", path) else -1


def _list_names(directory: str) -> list[str]:
    """Returns the names in a directory; none if it does not exist."""
    # TensorFlow reports a local directory that cannot be read as one that does not exist.
    # `str`: os.listdir takes a numpy.str_ for bytes.
    list_directory = tf.io.gfile.listdir if "://" in directory else os.listdir
    try:
        return [name.rstrip("/") for name in list_directory(str(directory) or ".")]
    except storage.MISSING_ERRORS:
        return []


def _read_content(model_dir: str) -> bytes | None:
    path = os.path.join(model_dir, "checkpoint")
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return file.read()
    except storage.MISSING_ERRORS as error:
        if "checkpoint" in _list_names(model_dir):
            raise OSError(f"{path} is listed but cannot be opened") from error
        return None
    except tf.errors.FailedPreconditionError as error:
        if "Not a directory" in error.message:
            return None
        raise


def _decode(model_dir: str, content: bytes) -> CheckpointList | None:
    state = tf.compat.v1.train.generate_checkpoint_state_proto("", "x", ["x"])
    state.Clear()
    try:
        text_format.Merge(content.decode(), state)
    except (text_format.ParseError, UnicodeDecodeError):
        return None
    if not state.model_checkpoint_path:
        return None
    # A path that is not absolute is relative to the directory.
    paths = [os.path.join(model_dir, path) for path in state.all_model_checkpoint_paths]
    return CheckpointList(os.path.join(model_dir, state.model_checkpoint_path), tuple(paths))


def _retry(action: Callable[[], _Result], task: str) -> _Result:
    """Returns what an action returns; retries it where the storage fails."""
    try:
        return action()
    except storage.MISSING_ERRORS:
        raise
    except (tf.errors.OpError, OSError):
        return storage.retry_storage_faults(action, task)


def _remember(path: str, files: tuple[Fingerprint, ...], damage: str | None) -> None:
    _known.pop(path, None)
    _known[path] = files, damage
    if len(_known) > _MAX_REMEMBERED:  # The oldest was removed long ago.
        del _known[next(iter(_known))]


def _make_absolute(directory: str) -> str:
    return directory if "://" in directory else os.path.abspath(directory)
