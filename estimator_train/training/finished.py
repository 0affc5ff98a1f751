"""How a process that does not train learns that the training has ended: by a file."""

import json
import os
import time

import tensorflow as tf

_NAME = "train_and_evaluate.finished"
# A file that was there before counts after this many seconds: a chief that starts removes it.
_BELIEVED_AFTER_SECS = 60.0


class Finished:
    """The file in model_dir that the chief writes when its training has ended.

    Args:
      model_dir: The directory of the model.
    """

    def __init__(self, model_dir: str) -> None:
        self._path = os.path.join(model_dir, _NAME)

    def remove(self) -> None:
        """Records that a training has begun."""
        if tf.io.gfile.exists(self._path):
            tf.io.gfile.remove(self._path)

    def write(self) -> None:
        """Records that the training has ended."""
        tf.io.gfile.makedirs(os.path.dirname(self._path))
        with tf.io.gfile.GFile(self._path, "w") as file:
            file.write(json.dumps({"time": time.time()}) + "\n")

    def read(self) -> str | None:
        """The content of the file, different each time it is written; None if it does not exist."""
        try:
            with tf.io.gfile.GFile(self._path) as file:
                return str(file.read())
        except tf.errors.NotFoundError:
            return None


class TrainingEnd:
    """Tells an evaluator whether the training that it belongs to has ended.

    Args:
      model_dir: The directory of the model.
    """

    def __init__(self, model_dir: str) -> None:
        self._file = Finished(model_dir)
        self._of_old = self._file.read()
        self._start = time.monotonic()

    def is_written(self) -> bool:
        """Whether the file is there, of this training or one before it."""
        return self._file.read() is not None

    def has_come(self) -> bool:
        """Whether the chief has ended, and its last checkpoint is written."""
        now = self._file.read()
        if now is None:
            self._of_old = None
            return False
        waited = time.monotonic() - self._start
        return now != self._of_old or waited >= _BELIEVED_AFTER_SECS
