"""Writes of files that no reader ever sees incomplete."""

import tensorflow as tf

UNFINISHED = ".part"  # Ends the name of a file that is not complete.


def atomic_write(path: str, content: str | bytes) -> None:
    """Writes a file under a temporary name and renames it when it is complete.

    Args:
      path: The file, on any file system that TensorFlow supports.
      content: The new content of the file.
    """
    unfinished = path + UNFINISHED
    with tf.io.gfile.GFile(unfinished, "w" if isinstance(content, str) else "wb") as file:
        file.write(content)
    tf.io.gfile.rename(unfinished, path, overwrite=True)


def atomic_copy(source: str, target: str) -> None:
    """Copies a file under a temporary name and renames the copy when it is complete.

    Args:
      source: The file to copy.
      target: The copy; a file of that name is replaced.
    """
    unfinished = target + UNFINISHED
    tf.io.gfile.copy(source, unfinished, overwrite=True)
    tf.io.gfile.rename(unfinished, target, overwrite=True)
