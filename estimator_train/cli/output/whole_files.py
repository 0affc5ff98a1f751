"""Files of results that are there only once they are whole."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[TextIO]:
    """Opens a file for writing that gets its name when the block ends without an error.

    Args:
      path: The file; one that is there already stays as it is until then.

    Yields:
      The file, under a name of its own, so that two writers do not disturb each other.
    """
    unfinished = f"{path}.{uuid.uuid4().hex[:8]}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            yield file
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(unfinished)
