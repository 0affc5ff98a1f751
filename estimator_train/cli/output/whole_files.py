"""Writes result files atomically; local ones also where TensorFlow cannot be imported."""

import contextlib
import errno
import glob
import os
import tempfile
import uuid
from collections.abc import Iterator
from typing import TextIO

_UNFINISHED = ".unfinished"


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
    folder, name = os.path.split(os.path.realpath(path))  # A symbolic link stays one.
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "the folder of this file does not exist", path)
    # The dot hides it from programs that read all files of a folder.
    unfinished = os.path.join(folder, f".{name}.{uuid.uuid4().hex[:8]}{_UNFINISHED}")
    try:
        yield unfinished
        os.replace(unfinished, os.path.join(folder, name))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)


def remove_unfinished(prefix: str) -> None:
    """Removes what killed processes left of files that `replace_file` was to write.

    Args:
      prefix: Beginning of the files' paths, which no other process writes now.
    """
    if "://" in prefix:  # `replace_file` writes remote files to a local folder first.
        return
    folder, name = os.path.split(os.path.realpath(prefix))
    for path in glob.glob(f"{glob.escape(os.path.join(folder, '.' + name))}*{_UNFINISHED}"):
        os.remove(path)


@contextlib.contextmanager
def _replace_remote_file(path: str) -> Iterator[str]:
    """Yields a local temporary path; its file is copied when the block ends without an error."""
    import tensorflow as tf

    from estimator_train import remote

    remote.check_output_directory(os.path.dirname(path))
    with tempfile.TemporaryDirectory() as folder:
        unfinished = os.path.join(folder, os.path.basename(path))
        yield unfinished
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(unfinished, path, overwrite=True)
