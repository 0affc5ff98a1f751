"""`history.jsonl`: one JSON line for each log point, checkpoint and evaluation.

A line has `step` (global step) and `time` (seconds since the epoch). A log point adds `loss`,
`steps_per_sec` and `examples_per_sec` since the log point before, and `replicas`, how many train
together; an evaluation adds `eval` (its name, "" without one), `metrics` and `checkpoint`. A
training also has a line with `goodput` at its start, with each checkpoint, and at its end
(`goodput.py`). A number that is NaN is null, and infinities are strings (`json_numbers.py`).
"""

import contextlib
import errno
import io
import json
import os
import time
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.job import Job
from estimator_train.engine.storage import find_files
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.types import HookPhase, Loss, PhasedHook, RunArgs, RunContext, RunValues
from estimator_train.goodput import (
    OWN_PART,
    STEPS,
    Goodput,
    MeanOfSteps,
    account_for,
    append_to_launchers_file,
    describe_straggler,
    process_clock,
    read_entries,
    read_records,
)
from estimator_train.json_numbers import restore_non_finite, write_json
from estimator_train.lifecycle import preemption

FILE_NAME = "history.jsonl"
TASKS_DIR = "goodput"
_LOG = tf.get_logger()
_FILE_ERRORS = (tf.errors.OpError, OSError)
# State of the process: histories whose last write failed; each is warned of once.
_not_written: set[str] = set()
_LAUNCHERS_SECS = 1.0
_FILE_SECS = 60.0


class LineFile:
    """File to which several processes append lines, none of which is mixed with another.

    A line that a full disk cut off stays incomplete, and the next one begins after it. Readers must
    skip lines that are incomplete or empty.

    Args:
      path: The file, on any file system that TensorFlow supports.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_local = "://" not in path
        self._start = b""
        if not self._is_local:
            self._file: Any = tf.io.gfile.GFile(path, "ab")
            return
        # Without a buffer, each line is one call of the system, which appends it as a unit.
        self._file = io.FileIO(path, "a+")
        # An error of training ends no hook, so that nobody calls `close`: Python would warn.
        weakref.finalize(self, self._file.close)
        if self._file.tell():
            self._file.seek(-1, os.SEEK_END)
            self._start = b"" if self._file.read(1) == b"\n" else b"\n"

    def append(self, line: str) -> None:
        """Writes a line.

        Args:
          line: The text, without a line break.

        Raises:
          OSError: It cannot be written.
          OpError: It cannot be written.
        """
        content = self._start + line.encode() + b"\n"
        written = self._file.write(content)
        self._file.flush()
        if self._is_local and written < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        self._start = b""

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class History:
    """History of one model_dir; its file stays open after the first line.

    Args:
      model_dir: The directory of the file.
    """

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self._path = os.path.join(model_dir, FILE_NAME)
        self._file: LineFile | None = None

    def append(self, step: int, entry: Mapping[str, Any]) -> None:
        """Adds a line; if the file cannot be written, logs a warning and continues.

        Args:
          step: The global step.
          entry: The other fields of the line; values that are not numbers, numeric arrays or
            strings are left out.
        """
        values = {"step": int(step), "time": time.time(), **_convert_to_plain(entry)}
        try:
            line = json.dumps(values, allow_nan=False)
        except ValueError:  # A number is NaN or infinite.
            line = write_json(values)
        try:
            if self._file is None:
                tf.io.gfile.makedirs(self._model_dir)
                self._file = LineFile(self._path)
            self._file.append(line)
            _not_written.discard(self._path)
        except _FILE_ERRORS as error:
            self.close()
            if self._path not in _not_written:
                reason = error.strerror if isinstance(error, OSError) else error.message
                _LOG.warning("%s could not be written: %s", self._path, reason)
            _not_written.add(self._path)

    def close(self) -> None:
        """Closes the file until the next line."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(*_FILE_ERRORS):  # All lines were flushed.
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
    with contextlib.suppress(*_FILE_ERRORS):
        tf.io.gfile.makedirs(os.path.dirname(path))
        with contextlib.closing(LineFile(path)) as file:
            file.append(json.dumps(line))


def read_lines(file: tf.io.gfile.GFile) -> list[bytes]:
    """Returns the lines of an open file; TensorFlow takes microseconds to read a single line.

    Args:
      file: The file.
    """
    content: bytes = file.read()
    return content.split(b"\n")


def read_straggler(model_dir: str) -> str:
    """Returns a sentence that names the slowest task of the last training; "" if none is slow.

    Args:
      model_dir: The directory of the history and of the files of the workers.
    """
    paths = {"chief": os.path.join(model_dir, FILE_NAME)}
    for path in find_files(os.path.join(model_dir, TASKS_DIR), "/*.jsonl"):
        paths[os.path.basename(path).removesuffix(".jsonl")] = path
    records = {}
    for name, path in paths.items():
        with contextlib.suppress(tf.errors.OpError), tf.io.gfile.GFile(path, "rb") as file:
            records[name] = read_records(read_lines(file))
    return describe_straggler(records)


def read_goodput(model_dir: str) -> Goodput | None:
    """Returns the goodput of all processes that trained in model_dir; None without records.

    Args:
      model_dir: The directory of the history.
    """
    try:
        with tf.io.gfile.GFile(os.path.join(model_dir, FILE_NAME), "rb") as file:
            return account_for(read_records(read_lines(file)))
    except tf.errors.OpError:
        return None


def read_metrics(model_dir: str, eval_name: str, checkpoint: str) -> dict[str, Any] | None:
    """Returns the metrics of the last evaluation of a checkpoint; None if the history has none.

    Args:
      model_dir: The directory of the history.
      eval_name: Name of the evaluation; "" if it has none.
      checkpoint: The checkpoint, whose directory may have been moved since.

    Returns:
      Metric name to NumPy value. Text metrics, such as serialized summaries, are missing.
    """
    metrics: dict[str, Any] | None = None
    with (
        contextlib.suppress(tf.errors.OpError),
        tf.io.gfile.GFile(os.path.join(model_dir, FILE_NAME), "rb") as file,
    ):
        for entry in read_entries(line for line in read_lines(file) if b'"eval"' in line):
            if entry.get("eval") == eval_name and os.path.basename(
                entry.get("checkpoint", "")
            ) == os.path.basename(checkpoint):
                metrics = entry.get("metrics", metrics)
    if metrics is None:
        return None
    return {name: _convert_to_numpy(value) for name, value in metrics.items()}


def _convert_to_numpy(value: Any) -> Any:
    """Returns a recorded metric as NumPy value, in float32 if that has the same value."""
    array = np.asarray(restore_non_finite(value))
    if array.dtype.kind == "f" and np.array_equal(array, array.astype(np.float32), equal_nan=True):
        array = array.astype(np.float32)
    return array[()]


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


def make_goodput_hook(job: Job, train_op: tf.Operation | tf.Tensor) -> "GoodputHook":
    """Returns the hook of a training; only a chief that has a history writes to it.

    Args:
      job: The call of `train`.
      train_op: The operation or tensor of a step.
    """
    config, step_read = job.config, tf_hooks.find_global_step_read()
    own_secs = job.together.build_local_secs(train_op)
    if not config.log_step_count_steps:
        return GoodputHook(step_read, own_secs=own_secs)
    if config.is_chief:
        return GoodputHook(step_read, history_dir=job.model_dir, own_secs=own_secs)
    name = f"{config.task_type}:{config.task_id}.jsonl"
    task_file = os.path.join(job.model_dir, TASKS_DIR, name)
    return GoodputHook(step_read, task_file=task_file, own_secs=own_secs)


class GoodputHook(PhasedHook):
    """Hook that records the time of this process by cause (`goodput.py`).

    The first step of a session prepares its graph, which takes seconds: it counts as the start.

    Args:
      step_read: Tensor of the global step before a step.
      history_dir: The model_dir whose history gets a line at each checkpoint and at the end; None
        for no such lines.
      task_file: File of a worker that is not chief, with a line every minute and at the end; or
        None.
      own_secs: The seconds of a synchronous worker for its own part of a step, a scalar; or None.
    """

    phase = HookPhase.AFTER_ALL  # Its last record covers the last checkpoint.

    def __init__(
        self,
        step_read: tf.Tensor,
        history_dir: str | None = None,
        task_file: str | None = None,
        own_secs: tf.Tensor | None = None,
    ) -> None:
        self._step_read = step_read
        self._history_dir = history_dir
        self._history: History | None = None
        self._task_file = task_file
        self._step = 0
        self._from_step: int | None = None
        self._is_from_copy = False
        self._own_steps = 0
        self._own_secs = own_secs
        self._own_part = None if own_secs is None else MeanOfSteps()
        self._recorded = self._filed = 0.0

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the hook waits for no step."""

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Opens the history, and reads the restored global step."""
        if self._history is None and self._history_dir is not None:
            # One object: the file stays open, so that a removed model_dir is not created again.
            self._history = History(self._history_dir)
        self._step = int(session.run(self._step_read))
        if self._from_step is None:
            self._from_step = self._step
            self.record(self._step)

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the global step and, of a synchronous worker, the time of its own part."""
        del run_context
        own_part = () if self._own_secs is None else (self._own_secs,)
        return RunArgs([self._step_read, *own_part])

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Follows the global step."""
        before, *own_secs = run_values.results
        if self._own_part is not None:
            self._own_part.add(float(own_secs[0]))
        self._own_steps += 1
        self._follow(int(before) + 1)

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Counts the steps of a loop."""
        self._own_steps += steps
        self._follow(self._step + steps)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Records the end of training."""
        self._step = int(session.run(self._step_read))  # A worker may make one more step to stop.
        self.record(self._step, is_end=not preemption.is_requested())
        if self._history is not None:
            self._history.close()

    def set_restored(self, is_interim: bool) -> None:
        """Stores whether a new session restored a copy in memory, not a checkpoint."""
        self._is_from_copy = is_interim

    def record_save(self, step: int) -> None:
        """Records a checkpoint, unless a new session saved the one that it restored.

        Args:
          step: Its global step.
        """
        if self._from_step is not None and step > self._from_step:
            self.record(step)

    def record(self, step: int, is_end: bool = False) -> None:
        """Writes a record to the history and to the launcher's file.

        Args:
          step: The global step.
          is_end: Whether the training ends by itself.
        """
        if self._history is not None:
            self._history.append(step, self._make_entry(is_end))
        self._record_task(step, is_end)

    def _record_task(self, step: int, is_end: bool = False) -> None:
        """Writes a record to the launcher's file and, once a minute, to that of a worker."""
        record = {"step": step, "time": time.time(), **self._make_entry(is_end)}
        append_to_launchers_file(record)
        self._recorded = time.monotonic()
        if self._task_file is not None and (is_end or self._recorded - self._filed >= _FILE_SECS):
            self._filed = self._recorded
            append_line(self._task_file, record)

    def _follow(self, step: int) -> None:
        self._step = step
        process_clock.switch(STEPS)
        if time.monotonic() - self._recorded >= _LAUNCHERS_SECS:
            self._record_task(step)

    def _make_entry(self, is_end: bool) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "run": process_clock.started,
            "from_step": self._from_step,
            "own_steps": self._own_steps,
            "secs": process_clock.read_secs(),
        }
        if self._is_from_copy:
            entry["from_copy"] = True
        if self._own_part is not None and self._own_part.is_known:
            entry[OWN_PART] = round(self._own_part.secs, 6)
        return {"goodput": {**entry, "is_end": True} if is_end else entry}
