"""Files that no reader ever sees incomplete, and searches for files."""

import contextlib
import glob
from collections.abc import Iterator

import tensorflow as tf

UNFINISHED = ".part"  # Ends the name of a file that is not complete.


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

    Args:
      path: The file to write, on any file system that TensorFlow supports.
    """
    unfinished = path + UNFINISHED
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
