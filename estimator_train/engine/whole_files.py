"""Writing files that nobody ever sees half written."""

import tensorflow as tf


def write_whole(path: str, content: str | bytes) -> None:
    """Writes a file that has its name only once all of it is there.

    Args:
      path: The file, on any file system that TensorFlow knows.
      content: What is to be in it, in place of what was there.
    """
    unfinished = f"{path}.part"
    with tf.io.gfile.GFile(unfinished, "w" if isinstance(content, str) else "wb") as file:
        file.write(content)
    tf.io.gfile.rename(unfinished, path, overwrite=True)
