"""Writes result files atomically; local ones also where TensorFlow cannot be imported."""

import contextlib
import errno
import os
import tempfile
import uuid
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def open_atomically(path: str) -> Iterator[TextIO]:
    """Opens a temporary file that replaces `path` when the block ends without an error.

    Args:
      path: The file. An existing file is not changed until the block ends. A device or a pipe,
        such as /dev/stdout, is written directly.

    Yields:
      The temporary file; its unique name allows several writers.
    """
    if "://" not in path and os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            yield file
        return
    with (
        replace_file(path) as unfinished,
        open(unfinished, "w", encoding="utf-8") as file,
    ):
        yield file


@contextlib.contextmanager
def replace_file(path: str) -> Iterator[str]:
    """Yields a temporary path; its file replaces `path` when the block ends without an error.

    Args:
      path: The file.
    """
    if "://" in path:
        with _replace_remote_file(path) as unfinished:
            yield unfinished
        return
    given, path = path, os.path.realpath(path)  # A symbolic link stays one.
    if not os.path.isdir(os.path.dirname(path)):
        raise FileNotFoundError(errno.ENOENT, "the folder of this file does not exist", given)
    unfinished = f"{path}.{uuid.uuid4().hex[:8]}.unfinished"
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)


@contextlib.contextmanager
def _replace_remote_file(path: str) -> Iterator[str]:
    """Yields a local temporary path; its file is copied when the block ends without an error."""
    import tensorflow as tf

    from estimator_train import remote

    remote.prepare_path(path, "output")
    with tempfile.TemporaryDirectory() as folder:
        unfinished = os.path.join(folder, os.path.basename(path))
        yield unfinished
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(unfinished, path, overwrite=True)
