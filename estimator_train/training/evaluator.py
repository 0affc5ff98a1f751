"""The evaluator of a cluster, and the files that tell it and others that training has ended."""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import read_global_step, retry_on_deleted_checkpoint
from estimator_train.engine.together.server import Deadline, find_max_wait_secs
from estimator_train.estimator import Estimator
from estimator_train.training.evaluations import Evaluation
from estimator_train.training.specs import EvalSpec, TrainSpec

_NAME = "train_and_evaluate.finished"
# After this many seconds a file of an earlier training counts: a chief that starts removes it.
_BELIEVED_AFTER_SECS = 60.0
_LOG = tf.get_logger()
_LOOK_EVERY_SECS = 1.0
# After this many times the longest time between two checkpoints the training counts as dead.
_INTERVALS = 3
# How long a chief that has written a checkpoint of max_steps may take to say that it was the last.
_AFTER_MAX_STEPS = 60.0


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


def evaluate_continuously(
    estimator: Estimator, train_spec: TrainSpec, specs: Sequence[EvalSpec]
) -> list[Evaluation]:
    """Evaluates and exports each new checkpoint in model_dir, and the final one.

    Returns after it has evaluated a checkpoint of max_steps, or the last checkpoint of a training
    whose chief has ended for another reason, which may have been before this call.

    Args:
      estimator: The Estimator that is trained by other processes.
      train_spec: The training.
      specs: What to evaluate and export.

    Returns:
      The evaluations.

    Raises:
      DeadlineExceededError: There was no new checkpoint for session_creation_timeout_secs, and for
        three times the longest time between two checkpoints.
    """
    sidecar = _Evaluator(estimator, train_spec, specs)
    sidecar.wait_for_start(min(spec.start_delay_secs for spec in specs))
    while not sidecar.evaluate_due():
        sidecar.wait()
    return sidecar.evaluations


class _Evaluator:
    def __init__(
        self, estimator: Estimator, train_spec: TrainSpec, specs: Sequence[EvalSpec]
    ) -> None:
        self.evaluations = [Evaluation(estimator, spec) for spec in specs]
        self._estimator, self._max_steps = estimator, train_spec.max_steps
        self._end = TrainingEnd(estimator.model_dir)
        self._min_wait = find_max_wait_secs(estimator.config)
        self._deadline = Deadline(self._min_wait, is_usual=True)
        self._last_path: str | None = None
        self._last_time = time.monotonic()
        self._longest = 0.0

    def wait_for_start(self, seconds: float) -> None:
        """Waits before the first evaluation, unless training has ended already."""
        if not seconds:
            return
        _LOG.info("Waiting %f secs before starting eval.", seconds)
        start = time.monotonic()
        while time.monotonic() - start < seconds and not self._is_over():
            time.sleep(min(_LOOK_EVERY_SECS, seconds))

    def evaluate_due(self) -> bool:
        """Evaluates a new checkpoint; returns whether it was the last one."""
        # Reads the end marker first: no checkpoint follows it.
        has_ended, is_written = self._end.has_come(), self._end.is_written()
        path, step = self._find_latest()
        if path is None:
            if has_ended:
                _LOG.warning("Exiting evaluation: training has ended without a checkpoint.")
            return has_ended
        self._note(path)
        if self._has_reached(step):
            # The chief may write another one, with steps that other workers made in the meantime.
            has_ended |= is_written or time.monotonic() - self._last_time >= _AFTER_MAX_STEPS
        return self._evaluate(step, has_ended)

    def wait(self) -> None:
        """Waits a moment for a new checkpoint.

        Raises:
          DeadlineExceededError: No checkpoint was written for too long.
        """
        path = self._last_path
        what = f"for a checkpoint after {path}" if path else "for the first checkpoint"
        self._deadline.wait(_LOOK_EVERY_SECS, f"{what} in {self._estimator.model_dir}")

    def _evaluate(self, step: int, has_ended: bool) -> bool:
        for evaluation in self.evaluations:
            if has_ended:
                evaluation.finish(step)
            elif evaluation.is_due(step) and evaluation.last_step != step:
                evaluation.run(is_final=False)
        if has_ended and self._has_reached(step):
            _LOG.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s", step, self._max_steps
            )
        elif has_ended:
            _LOG.info("Exiting evaluation, global_step=%s: training has ended.", step)
        return has_ended

    def _has_reached(self, step: int) -> bool:
        return self._max_steps is not None and step >= self._max_steps

    def _is_over(self) -> bool:
        return self._end.has_come() or self._has_reached(self._find_latest()[1])

    def _find_latest(self) -> tuple[str | None, int]:
        """Returns the latest checkpoint and its global step; None and 0 without a checkpoint."""
        return retry_on_deleted_checkpoint(
            self._estimator.model_dir, lambda path: (path, read_global_step(path) if path else 0)
        )

    def _note(self, path: str) -> None:
        """Waits longer if checkpoints are written at longer intervals."""
        if path == self._last_path:
            return
        now = time.monotonic()
        if self._last_path is not None:
            self._longest = max(self._longest, now - self._last_time)
        self._last_path, self._last_time = path, now
        longest = max(self._min_wait, _INTERVALS * self._longest)
        self._deadline = Deadline(longest, is_usual=True)
