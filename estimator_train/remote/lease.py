"""Leases of jobs in directories of object stores, which have no locks."""

import contextlib
import os
import platform
import re
import threading
import time
import uuid
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.remote.checks import is_replaced

CHECK_SECS = 10.0
# A running job writes its lease again in this time.
STALE_SECS = 25.0
# A lease of this age is stale: S3 and Azure refuse machines whose clocks are 15 minutes wrong.
_OLD_SECS = 1000.0
_FILE = ".training"
_HOLDER = re.compile(r"process (\d+) on (.+), since ")
_LOG = tf.get_logger()


@contextlib.contextmanager
def hold_lease(directory: str, refuses_others: bool) -> Iterator[None]:
    """Writes a lease again and again, and logs a warning if another job writes its own there.

    A lease that an ended job left is replaced. Errors of the store are left to the job.

    Args:
      directory: The directory, on a file system that TensorFlow opens.
      refuses_others: Whether another job there is an error.

    Raises:
      ValueError: Another job renews its lease there, and `refuses_others` is True.
    """
    path = os.path.join(directory, _FILE)
    holder = _find_running_holder(path) if refuses_others else None
    if holder:
        raise ValueError(
            f"{directory} is in use by another job ({holder}). Use another model_dir, or wait for "
            "its end; --allow_shared_model_dir, or RunConfig(allow_shared_model_dir=True), trains "
            "there all the same."
        )
    own = f"process {os.getpid()} on {platform.node()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
    own = f"{own} ({uuid.uuid4().hex[:8]})"
    has_ended = threading.Event()
    _write(path, own)
    thread = threading.Thread(target=_renew, args=(path, own, has_ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
        if _read_holder(path) == own:
            with contextlib.suppress(tf.errors.OpError):
                tf.io.gfile.remove(path)


def _find_running_holder(path: str) -> str | None:
    """Returns the holder of a lease that is being renewed; waits until that is known."""
    first = _read(path)
    if first is None or _has_ended_here(first) or _is_old(path):
        return None
    holder = first.partition("\n")[0] or "its lease is being written"
    _LOG.info("Waiting %g s to see whether a job still runs here: %s.", STALE_SECS, holder)
    deadline = time.monotonic() + STALE_SECS
    while time.monotonic() < deadline:
        time.sleep(STALE_SECS / 25)
        found = _read(path)
        if found is None:
            return None
        if found not in ("", first):
            return found.splitlines()[0]
    return None


def _has_ended_here(content: str) -> bool:
    """Returns whether the holder was a process of this machine that has ended."""
    match = _HOLDER.match(content)
    if not match or match[2] != platform.node():
        return False
    try:
        os.kill(int(match[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(match[1]) == os.getpid()


def _is_old(path: str) -> bool:
    try:
        age_secs: float = time.time() - tf.io.gfile.stat(path).mtime_nsec / 1e9
        return age_secs > _OLD_SECS
    except tf.errors.OpError:
        return True


def _renew(path: str, own: str, has_ended: threading.Event) -> None:
    has_warned = False
    while not has_ended.wait(CHECK_SECS):
        found = _read_holder(path)
        if found not in (None, own) and not has_warned:
            has_warned = True
            _LOG.warning(
                "%s is in use by another job (%s). Each overwrites the other's checkpoints. Use a "
                "separate model_dir for each.",
                os.path.dirname(path),
                found,
            )
        _write(path, own)  # Another job warns, or refuses to start.


def _read(path: str) -> str | None:
    """Returns the content of a lease; None without one.

    It is empty for a moment on some stores, and here if it is renewed while it is read.
    """
    try:
        with tf.io.gfile.GFile(path) as file:
            content: str = file.read()
            return content
    except tf.errors.OpError as error:
        return "" if is_replaced(error) else None


def _read_holder(path: str) -> str | None:
    content = _read(path)
    return content.splitlines()[0] if content else None


def _write(path: str, own: str) -> None:
    with contextlib.suppress(tf.errors.OpError), tf.io.gfile.GFile(path, "w") as file:
        file.write(f"{own}\n{time.time()}\n")
