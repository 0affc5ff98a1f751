"""`history.jsonl`: one JSON line for each log point, checkpoint and evaluation.

A line has `step` (global step) and `time` (seconds since the epoch). A log point adds `loss`,
`steps_per_sec` and `examples_per_sec` since the log point before, and `replicas`, how many train
together; an evaluation adds `eval` (its name, "" without one), `metrics` and `checkpoint`. A
training also has a line with `goodput` at its start, with each checkpoint, and at its end
(`goodput.account`).
"""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.goodput.account import Goodput, account_for, read_records
from estimator_train.goodput.stragglers import describe_straggler

FILE_NAME = "history.jsonl"
TASKS_DIR = "goodput"
_LOG = tf.get_logger()
# State of the process: histories whose last write failed; each is warned of once.
_not_written: set[str] = set()


class History:
    """History of one model_dir; its file stays open after the first line.

    Args:
      model_dir: The directory of the file.
    """

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self._path = os.path.join(model_dir, FILE_NAME)
        self._file: Any = None

    def append(self, step: int, entry: Mapping[str, Any]) -> None:
        """Adds a line; if the file cannot be written, logs a warning and continues.

        Args:
          step: The global step.
          entry: The other fields of the line; values that are not numbers, numeric arrays or
            strings are left out.
        """
        line = json.dumps({"step": int(step), "time": time.time(), **_convert_to_plain(entry)})
        try:
            if self._file is None:
                tf.io.gfile.makedirs(self._model_dir)
                self._file = tf.io.gfile.GFile(self._path, "a")
            self._file.write(line + "\n")
            self._file.flush()
            _not_written.discard(self._path)
        except tf.errors.OpError as error:
            self._file = None
            if self._path not in _not_written:
                _LOG.warning("%s could not be written: %s", self._path, error.message)
            _not_written.add(self._path)

    def close(self) -> None:
        """Closes the file until the next line."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(tf.errors.OpError):  # All lines were flushed.
                file.close()


def append(model_dir: str, step: int, entry: Mapping[str, Any]) -> None:
    """Adds one line to the history of a model_dir, as `History.append` does."""
    history = History(model_dir)
    history.append(step, entry)
    history.close()


def append_line(path: str, line: Mapping[str, Any]) -> None:
    """Appends a JSON line to a file of a worker, whose directory is created; ignores failures.

    Args:
      path: The file.
      line: The values, which must be valid in JSON.
    """
    with contextlib.suppress(tf.errors.OpError):
        tf.io.gfile.makedirs(os.path.dirname(path))
        with tf.io.gfile.GFile(path, "a") as file:
            file.write(json.dumps(line) + "\n")


def read_straggler(model_dir: str) -> str:
    """Returns a sentence that names the slowest task of the last training; "" if none is slow.

    Args:
      model_dir: The directory of the history and of the files of the workers.
    """
    paths = {"chief": os.path.join(model_dir, FILE_NAME)}
    for path in tf.io.gfile.glob(os.path.join(model_dir, TASKS_DIR, "*.jsonl")):
        paths[os.path.basename(path).removesuffix(".jsonl")] = path
    records = {}
    for name, path in paths.items():
        with contextlib.suppress(tf.errors.OpError), tf.io.gfile.GFile(path) as file:
            records[name] = read_records(file)
    return describe_straggler(records)


def read_goodput(model_dir: str) -> Goodput | None:
    """Returns the goodput of all processes that trained in model_dir; None without records.

    Args:
      model_dir: The directory of the history.
    """
    try:
        with tf.io.gfile.GFile(os.path.join(model_dir, FILE_NAME)) as file:
            return account_for(read_records(file))
    except tf.errors.OpError:
        return None


def _convert_to_plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            plain[name] = _convert_to_plain(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            plain[name] = value.tolist()
        elif isinstance(value, (np.generic, bool, int, float, str)):
            plain[name] = value.item() if isinstance(value, np.generic) else value
    return plain
