"""`history.jsonl`: one JSON line for each log point of training and each evaluation.

A line has `step` (global step) and `time` (seconds since the epoch). A log point adds `loss`,
`steps_per_sec` and `examples_per_sec` since the log point before, and `replicas`, how many train
together; an evaluation adds `eval` (its name, "" without one), `metrics` and `checkpoint`.
"""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

FILE_NAME = "history.jsonl"
_LOG = tf.get_logger()
# Histories that could not be written when last tried; one warning each.
_not_written: set[str] = set()


class History:
    """The history of one model_dir, whose file stays open from its first line on.

    Args:
      model_dir: The directory of the file.
    """

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self._path = os.path.join(model_dir, FILE_NAME)
        self._file: Any = None

    def append(self, step: int, entry: Mapping[str, Any]) -> None:
        """Adds a line; a history that cannot be written is warned of, and nothing stops for it.

        Args:
          step: The global step.
          entry: What the line says besides step and time; anything but numbers, arrays of them and
            strings is left out.
        """
        line = json.dumps({"step": int(step), "time": time.time(), **_plain(entry)})
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


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in entry.items():
        if isinstance(value, Mapping):
            plain[name] = _plain(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            plain[name] = value.tolist()
        elif isinstance(value, (np.generic, bool, int, float, str)):
            plain[name] = value.item() if isinstance(value, np.generic) else value
    return plain


class HistoryHook(tf.compat.v1.train.SessionRunHook):
    """Writes a line every so many steps, the first after the first step.

    Args:
      model_dir: The directory of the file.
      every_n_steps: Steps between lines.
      loss: The loss, a scalar tensor.
      step_read: Tensor of the global step before a step.
      batch_size: Tensor of the examples in a step of this process, or None.
      replicas: Copies of the model that are trained.
      processes: Processes that they are in.
    """

    def __init__(
        self,
        model_dir: str,
        every_n_steps: int,
        loss: tf.Tensor,
        step_read: tf.Tensor,
        batch_size: tf.Tensor | None,
        replicas: int = 1,
        processes: int = 1,
    ) -> None:
        self._history = History(model_dir)
        self._every = every_n_steps
        self._fetches = {"loss": loss, "before": step_read}
        if batch_size is not None:
            self._fetches["examples"] = batch_size
        self._replicas, self._processes = replicas, processes
        self._next: int | None = None
        self._since: tuple[int, float] | None = None

    def steps_until_due(self, global_step: int) -> int:
        """Steps up to and with the next line's."""
        return 1 if self._next is None else self._next - global_step

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts the steps of a loop."""
        self._seen += steps

    def begin(self) -> None:
        """Starts counting steps."""
        self._seen = 0

    def before_run(self, run_context: Any) -> tf.compat.v1.train.SessionRunArgs | None:
        """Asks for the loss where a line is due."""
        self._due = self._seen % self._every == 0
        return tf.compat.v1.train.SessionRunArgs(self._fetches) if self._due else None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes the line."""
        self._seen += 1
        if not self._due:
            return
        found = run_values.results
        step = int(found["before"]) + 1
        self._next = step + self._every
        entry = {"loss": found["loss"], "replicas": self._replicas}
        now = time.monotonic()
        if self._since is not None:
            rate = (step - self._since[0]) / max(now - self._since[1], 1e-9)
            entry["steps_per_sec"] = rate
            if "examples" in found:
                entry["examples_per_sec"] = rate * found["examples"] * self._processes
        self._since = (step, now)
        self._history.append(step, entry)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Closes the file."""
        self._history.close()
