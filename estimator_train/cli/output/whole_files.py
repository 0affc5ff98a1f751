"""Writes local result files atomically, also where TensorFlow cannot be imported."""

import contextlib
import os
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
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            yield file
        return
    path = os.path.realpath(path)  # A symbolic link stays one.
    unfinished = f"{path}.{uuid.uuid4().hex[:8]}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            yield file
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)
