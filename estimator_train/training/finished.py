"""File that tells the processes that do not train when the training has ended."""

import contextlib
import json
import os
import time
from collections.abc import Iterator

import tensorflow as tf

_NAME = "train_and_evaluate.finished"
# After this many seconds a file of an earlier training counts: a chief that starts removes it.
_BELIEVED_AFTER_SECS = 60.0


class Finished:
    """File in model_dir that the chief writes when its training has ended.

    Args:
      model_dir: The directory of the model.
    """

    def __init__(self, model_dir: str) -> None:
        self._path = os.path.join(model_dir, _NAME)

    @contextlib.contextmanager
    def mark_end(self) -> Iterator[None]:
        """Removes the file before the training in the context, and writes it after that.

        After an error there is no file.
        """
        if tf.io.gfile.exists(self._path):
            tf.io.gfile.remove(self._path)
        yield
        self.write()

    def write(self) -> None:
        """Records that the training has ended."""
        tf.io.gfile.makedirs(os.path.dirname(self._path))
        with tf.io.gfile.GFile(self._path, "w") as file:
            file.write(json.dumps({"time": time.time()}) + "\n")

    def read(self) -> str | None:
        """Returns the content, which differs for each write; None if there is no file."""
        try:
            with tf.io.gfile.GFile(self._path) as file:
                return str(file.read())
        except tf.errors.NotFoundError:
            return None


class TrainingEnd:
    """Watch of the file, for the evaluator of a training.

    Args:
      model_dir: The directory of the model.
    """

    def __init__(self, model_dir: str) -> None:
        self._file = Finished(model_dir)
        self._earlier = self._file.read()
        self._start = time.monotonic()

    def is_written(self) -> bool:
        """Returns whether the file exists, of this training or an earlier one."""
        return self._file.read() is not None

    def has_come(self) -> bool:
        """Returns whether the chief has ended, after its last checkpoint."""
        now = self._file.read()
        if now is None:
            self._earlier = None
            return False
        waited = time.monotonic() - self._start
        return now != self._earlier or waited >= _BELIEVED_AFTER_SECS
