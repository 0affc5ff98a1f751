"""Checkpoints that can be read: the newest of them, whatever has become of later ones.

A checkpoint is good if all that it holds can be read with the right checksums. It is read once for
that in each process, and not at all where the process wrote it itself.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

_LOG = tf.get_logger()
_INDEX = re.compile(r"(?P<name>.+-(?P<step>\d+))\.index")
_MOST_NOTED = 1000
# What its files looked like when a checkpoint was found good, by its path.
_found_good: dict[str, tuple[tuple[Any, ...], ...]] = {}


def latest_checkpoint(model_dir: str) -> str | None:
    """Finds the latest checkpoint, or the newest before it that can be read.

    Args:
      model_dir: The directory of the checkpoints.

    Returns:
      Its path prefix, or None where there are no checkpoints.

    Raises:
      ValueError: The file `checkpoint` names checkpoints, and none can be read.
    """
    state = _state(model_dir)
    path, reasons = _look(model_dir, state)
    # A job that trains there may have removed what was looked at; then it has named another.
    while reasons and state != (now := _state(model_dir)):
        state = now
        path, reasons = _look(model_dir, state)
    if path is not None:
        _warn(model_dir, state.model_checkpoint_path if state else None, reasons, path)
    elif reasons and state is None:
        _LOG.warning("The checkpoints that are left cannot be read: %s.", "; ".join(reasons))
    elif reasons:
        raise ValueError(
            f"No checkpoint in {model_dir} can be read ({'; '.join(reasons)}). Bring one back, or "
            "remove them all to start over."
        )
    return path


def fallback(model_dir: str) -> str | None:
    """The newest good checkpoint where it is not the one that the file `checkpoint` names, or None.

    Raises:
      ValueError: As `latest_checkpoint` does.
    """
    good, state = latest_checkpoint(model_dir), _state(model_dir)
    return None if state and good == state.model_checkpoint_path else good


def is_as_found(path: str) -> bool:
    """Whether a checkpoint that this process found good is still there, as it was."""
    return _found_good.get(path) == _looks(path)


def mark_good(path: str) -> None:
    """Notes that this process has just written a checkpoint."""
    _note(path, _looks(path))


def remove_unfinished(path: str) -> None:
    """Removes what is left of a checkpoint that could not be written, as far as it can be."""
    if tf.io.gfile.exists(path + ".index"):
        return
    with contextlib.suppress(tf.errors.OpError):
        for left in (*tf.io.gfile.glob(path + "_temp*"), *tf.io.gfile.glob(path + ".*")):
            remove = tf.io.gfile.rmtree if tf.io.gfile.isdir(left) else tf.io.gfile.remove
            remove(left)


def repair(model_dir: str) -> None:
    """Makes the `checkpoint` file of a directory name the newest checkpoint that can be read.

    For the process that is about to write there: others may still be writing it.
    """
    good, state = fallback(model_dir), _state(model_dir)
    if good is None:
        return
    named = state.all_model_checkpoint_paths if state else reversed(_on_disk(model_dir))
    older = [path for path in named if _step(path) < _step(good) and _looks(path)]
    names = [os.path.relpath(path, model_dir) for path in (*older, good)]
    tf.compat.v1.train.update_checkpoint_state(
        model_dir, names[-1], all_model_checkpoint_paths=names
    )


def _state(model_dir: str) -> Any:
    """What the file `checkpoint` says; None where it is missing or torn."""
    try:
        return tf.train.get_checkpoint_state(model_dir)
    except ValueError:  # A UnicodeDecodeError is one.
        return None


def _look(model_dir: str, state: Any) -> tuple[str | None, list[str]]:
    """The best checkpoint that can be read, or None, and what is wrong with those before it."""
    reasons: list[str] = []
    for path in _candidates(model_dir, state):
        reason = _what_is_wrong(path)
        if reason is None:
            return path, reasons
        reasons.append(f"{path}: {reason}")
    return None, reasons


def _candidates(model_dir: str, state: Any) -> Iterator[str]:
    """Paths of checkpoints, best first: those that the `checkpoint` file names, then all others."""
    seen: set[str] = set()
    named = []
    if state is not None:
        named = [state.model_checkpoint_path, *reversed(state.all_model_checkpoint_paths)]
    for path in (*named, *_on_disk(model_dir)):
        if path not in seen:
            seen.add(path)
            yield path


def _on_disk(model_dir: str) -> list[str]:
    """All checkpoints in a directory by the step in their name, the latest first."""
    try:
        names = tf.io.gfile.listdir(model_dir)
    except tf.errors.OpError:
        return []
    matches = [match for match in map(_INDEX.fullmatch, names) if match]
    matches.sort(key=lambda match: int(match["step"]), reverse=True)
    return [os.path.join(model_dir, match["name"]) for match in matches]


def _step(path: str) -> int:
    return int(path.rpartition("-")[2]) if re.search(r"-\d+$", path) else -1


def _looks(path: str) -> tuple[tuple[Any, ...], ...]:
    """What tells a checkpoint's files from others of their names; nothing where there are none."""
    index = path + ".index"
    # A checkpoint of the first format is one file.
    files = [index, *sorted(tf.io.gfile.glob(path + ".data-*"))]
    files = files if tf.io.gfile.exists(index) else [path]
    try:
        return tuple(stamp(name) for name in files)
    except (tf.errors.NotFoundError, FileNotFoundError):
        return ()


def stamp(path: str) -> tuple[Any, ...]:
    """What tells a file from another of the same name, as far as its file system knows.

    Raises:
      NotFoundError: The file does not exist, on a remote file system.
      FileNotFoundError: The file does not exist, on a local file system.
    """
    if "://" in path:  # TensorFlow's stat has whole seconds.
        remote = tf.io.gfile.stat(path)
        return path, remote.length, remote.mtime_nsec
    local = os.stat(path)
    return path, local.st_size, local.st_mtime_ns, local.st_ino


def _what_is_wrong(path: str) -> str | None:
    """Why a checkpoint cannot be read, or None if it can."""
    looks = _looks(path)
    if not looks:
        return "it is not there"
    if _found_good.get(path) == looks:
        return None
    try:
        reader = tf.train.load_checkpoint(path)
        for name, dtype in reader.get_variable_to_dtype_map().items():
            if dtype not in (tf.variant, tf.resource):
                _read(reader, name)
    except Exception as error:  # A torn file can lead to any: IndexError, RuntimeError, ...
        return str(getattr(error, "message", error)).splitlines()[0]
    _note(path, looks)
    return None


def _note(path: str, looks: tuple[tuple[Any, ...], ...]) -> None:
    _found_good.pop(path, None)
    _found_good[path] = looks
    if len(_found_good) > _MOST_NOTED:  # The oldest has been removed long since.
        del _found_good[list(_found_good)[0]]


def _read(reader: Any, name: str) -> None:
    """Reads a variable, unless only some of its parts were ever saved.

    Optimizers name the slots of a partitioned variable one by one, each a part of a whole that is
    nowhere.
    """
    try:
        reader.get_tensor(name)
    except Exception as error:
        if "sufficient slices" not in str(error):
            raise


def _warn(model_dir: str, latest: str | None, reasons: list[str], path: str) -> None:
    if latest is None:
        _LOG.warning(
            "The file 'checkpoint' of %s is missing or cannot be read; using %s.", model_dir, path
        )
    elif reasons:
        _LOG.warning("%s. Using %s instead.", "; ".join(reasons), path)
