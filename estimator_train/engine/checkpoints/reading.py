"""Reading checkpoints: which one a call uses, and the values in it."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import is_as_found, latest_checkpoint

_LOG = tf.get_logger()
_Result = TypeVar("_Result")


def note_untrained(model_dir: str, checkpoint_path: str | None, purpose: str) -> None:
    """Logs that variables are initialized, if there is no checkpoint to restore.

    Args:
      model_dir: The directory of the checkpoints.
      checkpoint_path: What is restored, or None.
      purpose: What it is for, as it stands in the log ("evaluate").
    """
    if checkpoint_path is None:
        _LOG.info(
            "Could not find trained model in model_dir: %s, running initialization to %s.",
            model_dir,
            purpose,
        )


def with_latest(
    model_dir: str, use: Callable[[str | None], _Result], path: str | None = None
) -> _Result:
    """Uses the latest checkpoint, or the latest after it if it was removed meanwhile.

    A job that trains in model_dir keeps only the last few.

    Args:
      model_dir: The directory of the checkpoints.
      use: Called with the path prefix, or with None where there is no checkpoint; called again if
        it fails and its checkpoint is gone.
      path: The checkpoint that is tried first; by default the latest.

    Returns:
      What `use` returns.
    """
    path = path or latest_checkpoint(model_dir)
    while True:
        try:
            return use(path)
        except (tf.errors.OpError, ValueError, OSError):
            if path is None or is_as_found(path):
                raise
            gone, path = path, latest_checkpoint(model_dir)
            if path is None:
                raise
            _LOG.info("%s was removed before it was read; using %s.", gone, path)


@contextlib.contextmanager
def opened(
    model_dir: str,
    checkpoint_path: str | bytes | os.PathLike[str] | None,
    open_model: Callable[[str | None], contextlib.AbstractContextManager[_Result]],
) -> Iterator[tuple[str | None, _Result]]:
    """Enters what restores a checkpoint.

    Args:
      model_dir: The directory of the checkpoints.
      checkpoint_path: The checkpoint that the caller asked for; by default the latest in model_dir.
      open_model: Makes what is entered; its argument is a path, or None where there is no
        checkpoint and variables are to be initialized.

    Yields:
      The path of the checkpoint or None, and what came of entering.
    """
    with contextlib.ExitStack() as stack:

        def enter(path: str | None) -> tuple[str | None, _Result]:
            return path, stack.enter_context(open_model(path))

        if checkpoint_path:
            yield enter(os.fsdecode(checkpoint_path))
        else:
            yield with_latest(model_dir, enter)


def saved_global_step(model_dir: str) -> int:
    """The global step of the latest checkpoint; 0 where there is none."""
    return with_latest(model_dir, lambda path: 0 if path is None else global_step_in(path))


def global_step_in(path: str) -> int:
    """The global step that a checkpoint holds, of either format; 0 if it holds none."""
    reader = tf.train.load_checkpoint(path)
    for name in reader.get_variable_to_shape_map():
        # An object-based checkpoint has "name/.ATTRIBUTES/VARIABLE_VALUE".
        if name.split("/")[0] in ("global_step", "estimator_global_step"):
            return int(reader.get_tensor(name))
    return 0


def _of_existing(model_dir: str, read: Callable[[str], _Result]) -> _Result:
    def use(path: str | None) -> _Result:
        if path is None:
            raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")
        return read(path)

    return with_latest(model_dir, use)


def variable_names(model_dir: str) -> list[str]:
    """Names of the variables in the latest checkpoint.

    Raises:
      ValueError: There is no checkpoint.
    """
    return [name for name, _ in _of_existing(model_dir, tf.train.list_variables)]


def variable_value(model_dir: str, name: str) -> Any:
    """The value of a variable in the latest checkpoint, a NumPy array.

    Raises:
      ValueError: There is no checkpoint.
    """
    return _of_existing(model_dir, lambda path: tf.train.load_variable(path, name))
