"""Files: found by patterns, complete or absent for readers, on storage that may fail for a while.

A fault of the storage says nothing about the files on it. It is retried with growing pauses, and
then ends the job with an exit code at which schedulers start it again.
"""

import contextlib
import contextvars
import errno
import glob
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import NoReturn, TypeVar

import tensorflow as tf

from estimator_train import remote
from estimator_train.lifecycle.limits import RETRYABLE_EXIT_CODE

UNFINISHED = ".part"  # Ends the name of a file that is not complete.
_LOG = tf.get_logger()
_Result = TypeVar("_Result")
# About a minute: longer than a network file system serves stale attributes of a file.
RETRY_DELAYS_SECS = (0.1, 0.2, 0.4, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
_delays: contextvars.ContextVar[Sequence[float] | None] = contextvars.ContextVar(
    "delays", default=None
)
MISSING_ERRORS = (tf.errors.NotFoundError, FileNotFoundError, NotADirectoryError)
_IMPOSSIBLE_NAMES = [os.strerror(code) for code in (errno.ENAMETOOLONG, errno.ELOOP)]
_RESTORE_OPERATIONS = ("Restore", "RestoreV2", "RestoreSlice")
_RESTORE_FAULTS = (
    tf.errors.AbortedError,
    tf.errors.DeadlineExceededError,
    tf.errors.InternalError,
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.UnauthenticatedError,
    tf.errors.UnavailableError,
    tf.errors.UnknownError,
)
_CHUNK_BYTES = 2**24
_STACK = re.compile(r"Graph execution error:\s*(Detected at .*?\nNode: [^\n]*\n)?", re.DOTALL)


def find_files(path: str, pattern: str) -> list[str]:
    """Returns the files whose path is a literal text followed by a pattern.

    Args:
      path: The literal text, which may contain `*`, `?` or brackets: a directory or a path prefix.
      pattern: The pattern.
    """
    return list(tf.io.gfile.glob(glob.escape(path) + pattern))


@contextlib.contextmanager
def replace_file(path: str) -> Iterator[str]:
    """Yields a temporary path, which is renamed when the block ends without an error.

    Threads have paths of their own, because trainings may share a model_dir. The main thread has
    always the same, so that the next write replaces what a kill left.

    Args:
      path: The file to write, on any file system that TensorFlow supports.
    """
    is_main = threading.current_thread() is threading.main_thread()
    thread = "" if is_main else f".{threading.get_native_id()}"
    unfinished = f"{path}{thread}{UNFINISHED}"
    yield unfinished
    tf.io.gfile.rename(unfinished, path, overwrite=True)


def atomic_write(path: str, content: str | bytes) -> None:
    """Writes a file under a temporary name and renames it when it is complete.

    Args:
      path: The file, on any file system that TensorFlow supports.
      content: The new content of the file.
    """
    mode = "w" if isinstance(content, str) else "wb"
    with replace_file(path) as unfinished, tf.io.gfile.GFile(unfinished, mode) as file:
        file.write(content)


def atomic_copy(source: str, target: str) -> None:
    """Copies a file under a temporary name and renames the copy when it is complete.

    Args:
      source: The file to copy.
      target: The copy; a file of that name is replaced.
    """
    with replace_file(target) as unfinished:
        tf.io.gfile.copy(source, unfinished, overwrite=True)


def copy_checkpoint(source: str, target: str) -> None:
    """Copies a checkpoint's files, the index last: a reader finds no checkpoint without it.

    Args:
      source: Path prefix of the checkpoint.
      target: Path prefix of the copy, in a directory that exists.
    """
    for file in (*find_files(source, ".data-*"), source + ".index"):
        atomic_copy(file, target + file[len(source) :])


def remove_checkpoint(path: str) -> None:
    """Removes a checkpoint's files, the index first.

    TensorFlow's function reads the path as a pattern, and removes what else it matches.
    """
    for file in sorted(find_files(path, ".*"), key=lambda f: not f.endswith(".index")):
        tf.io.gfile.remove(file)


class StorageFaultError(OSError):
    """The storage of a checkpoint failed until all retries were used.

    Left alone, it ends the process with exit code 143, at which schedulers start the job again.
    """

    exit_code = RETRYABLE_EXIT_CODE


@contextlib.contextmanager
def allow_single_attempt() -> Iterator[None]:
    """Turns retries off within the context, for a caller that must answer soon."""
    token = _delays.set(())
    try:
        yield
    finally:
        _delays.reset(token)


def retry_delays() -> Iterator[float]:
    """Yields the seconds to wait before each retry."""
    delays = _delays.get()
    yield from RETRY_DELAYS_SECS if delays is None else delays


def retry_storage_faults(action: Callable[[], _Result], task: str) -> _Result:
    """Returns what an action returns, and repeats it while the storage fails.

    Args:
      action: Reads or writes files. Errors about missing files are raised without a retry.
      task: What the action does, for log lines: "read /m/checkpoint".

    Raises:
      StorageFaultError: The storage failed at every attempt.
    """
    delays = retry_delays()
    while True:
        try:
            return action()
        except MISSING_ERRORS:
            raise
        except (tf.errors.OpError, OSError) as error:
            wait_after_fault(task, error, delays)


def wait_after_fault(
    task: str, error: BaseException, delays: Iterator[float], log: bool = True
) -> None:
    """Waits before the next attempt, if there is one.

    Args:
      task: What failed, for log lines: "read /m/checkpoint".
      error: Its error.
      delays: Seconds to wait before each attempt that is left.
      log: Whether a warning names the error.

    Raises:
      StorageFaultError: There are no more delays.
      OpError: A remote store refuses, and would refuse again.
      OSError: No file can have the name.
    """
    if remote.is_permanent(error):
        raise error
    if _is_of_impossible_name(error):
        raise OSError(take_first_line(error)) from error
    delay = next(delays, None)
    if delay is None:
        end_job(f"Could not {task}: {take_first_line(error)}.", error)
    if log:
        _LOG.warning("Could not %s: %s. Trying again in %g s.", task, take_first_line(error), delay)
    time.sleep(delay)


def end_job(message: str, error: BaseException) -> NoReturn:
    """Ends the job with the exit code at which schedulers start it again.

    Args:
      message: What failed.
      error: The error of the storage.

    Raises:
      StorageFaultError: Always.
    """
    global _previous_hook
    if sys.excepthook is not _exit_with_retryable_code:
        _previous_hook, sys.excepthook = sys.excepthook, _exit_with_retryable_code
    raise StorageFaultError(
        f"{message} The checkpoints are left as they are. Run the same command again once the "
        "storage works."
    ) from error


_previous_hook = sys.excepthook


def _exit_with_retryable_code(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    _previous_hook(kind, error, trace)
    if isinstance(error, StorageFaultError):
        sys.exit(RETRYABLE_EXIT_CODE)


def is_restore_fault(error: BaseException) -> bool:
    """Returns whether the storage failed while a session restored a checkpoint."""
    return (
        isinstance(error, _RESTORE_FAULTS)
        and is_of_restore(error)
        and "OOM when allocating" not in error.message
    )


def is_of_restore(error: BaseException) -> bool:
    """Returns whether an operation that restores a checkpoint raised an error."""
    operation = getattr(error, "op", None)
    return operation is not None and operation.type in _RESTORE_OPERATIONS


def take_first_line(error: BaseException) -> str:
    """Returns the first line of an error's message, or its type if the message is empty.

    TensorFlow's message may begin with the stack of the operation, up to "Node: ...".
    """
    text = _STACK.sub("", str(getattr(error, "message", None) or error).strip())
    return text.splitlines()[0] if text else type(error).__name__


def is_file(path: str) -> bool:
    """Returns whether a file exists.

    Raises:
      OSError: The storage does not say so.
      OpError: The storage does not say so.
    """
    try:  # TensorFlow reports a local file that cannot be reached as one that does not exist.
        (tf.io.gfile.stat if "://" in path else os.stat)(path)
    except MISSING_ERRORS:
        return False
    return not tf.io.gfile.isdir(path)


def check_readable(path: str) -> None:
    """Reads a file to its end.

    Raises:
      OSError: It cannot be read.
      OpError: It cannot be read.
    """
    with tf.io.gfile.GFile(path, "rb") as file:
        while file.read(_CHUNK_BYTES):
            pass


def names_system_error(message: str) -> bool:
    """Returns whether a message of TensorFlow ends in an error of the operating system."""
    return any(f"; {text}" in message for text in _SYSTEM_ERRORS)


def _is_of_impossible_name(error: BaseException) -> bool:
    """Returns whether the system or TensorFlow says that no file can have the name."""
    return any(text in str(error) for text in _IMPOSSIBLE_NAMES)


_SYSTEM_ERRORS = [
    os.strerror(code) for code in errno.errorcode if code not in (errno.ENOENT, errno.EISDIR)
]
