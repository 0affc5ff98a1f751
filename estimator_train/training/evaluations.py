"""Evaluations of a training: when they are due, and their results."""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.reading import retry_on_deleted_checkpoint
from estimator_train.engine.checkpoints.save_schedule import CheckpointStepsListener
from estimator_train.engine.model_cache import ReusedInput
from estimator_train.estimator import Estimator
from estimator_train.lifecycle import preemption
from estimator_train.training.exporters import Exporter
from estimator_train.training.specs import EvalSpec

_LOG = tf.get_logger()


class Evaluation:
    """Evaluations of one EvalSpec.

    Args:
      estimator: The Estimator that is trained.
      spec: The evaluation and its exporters.

    Attributes:
      spec: The evaluation and its exporters.
      metrics: Result of the last evaluation; None before the first.
      exports: Results of the exporters after the last evaluation; None before the first.
      last_step: The global step that was evaluated last, or at which training began.
    """

    def __init__(self, estimator: Estimator, spec: EvalSpec) -> None:
        self.spec = spec
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None
        self.last_step = 0
        self._estimator = estimator
        self._input = ReusedInput(spec.input_fn)
        self._started: float | None = None
        self._path: str | None = None
        self._was_final = False

    def is_due(self, step: int) -> bool:
        """Returns whether an evaluation of a checkpoint is due."""
        every = self.spec.every_steps
        if every is not None:
            return step // every > self.last_step // every
        secs = self.spec.throttle_secs
        return self._started is None or time.monotonic() - self._started >= secs

    def run(self, is_final: bool) -> None:
        """Evaluates the latest checkpoint and calls the exporters.

        Args:
          is_final: Whether the checkpoint is the last of the training.
        """
        self._started = time.monotonic()
        retry_on_deleted_checkpoint(self._estimator.model_dir, self._evaluate)
        assert self.metrics is not None
        self._export(self.metrics, is_final)

    def _evaluate(self, path: str | None) -> None:
        with self._input.activate():
            self.metrics = self._estimator.evaluate(
                self.spec.input_fn,
                steps=self.spec.steps,
                hooks=self.spec.hooks,
                checkpoint_path=path,
                name=self.spec.name,
            )
        self._path, self.last_step = path, int(self.metrics["global_step"])

    def finish(self, step: int) -> None:
        """Evaluates and exports the last checkpoint, unless that is done.

        Args:
          step: Its global step.
        """
        if self.metrics is None or self.last_step != step:
            self.run(is_final=True)
        elif not self._was_final:
            self._export(self.metrics, is_final=True)

    def _export(self, metrics: dict[str, Any], is_final: bool) -> None:
        self._was_final = is_final
        self.exports = [self._run_exporter(each, metrics, is_final) for each in self.spec.exporters]

    def _run_exporter(self, exporter: Exporter, metrics: dict[str, Any], is_final: bool) -> Any:
        model_dir = self._estimator.model_dir

        def export(path: str | None) -> Any:
            return exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(model_dir, "export", exporter.name),
                checkpoint_path=path or "",
                eval_result=metrics,
                is_the_final_export=is_final,
            )

        return retry_on_deleted_checkpoint(model_dir, export, self._path)


class EvaluationListener(CheckpointStepsListener):
    """Listener that evaluates written checkpoints, and always the last one.

    Args:
      evaluations: The evaluations.
      max_steps: The global step at which training ends, or None.
      after_round: Called after each checkpoint but the last, once all specs have evaluated it.
    """

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        max_steps: int | None,
        after_round: Callable[[], None],
    ) -> None:
        self.every_steps = frozenset(
            evaluation.spec.every_steps
            for evaluation in evaluations
            if evaluation.spec.every_steps is not None
        )
        self._evaluations = evaluations
        self._max_steps = max_steps
        self._after_round = after_round

    def begin(self) -> None:
        """Records that training starts, with a checkpoint that is not evaluated."""
        self._is_first_save = True

    def needs_checkpoint(self, global_step: int) -> bool:
        """Returns whether `after_save` will need the checkpoint of a global step."""
        due = any(evaluation.is_due(global_step) for evaluation in self._evaluations)
        return due and not self._is_first_save

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Runs the evaluations that are due."""
        if self._is_first_save:
            self._is_first_save = False
            for evaluation in self._evaluations:
                evaluation.last_step = global_step_value
            return
        # Training ends the job after all hooks have seen the step.
        with contextlib.suppress(preemption.Preempted):
            preemption.raise_if_requested("evaluating")
            self._evaluate(global_step_value)

    def _evaluate(self, global_step: int) -> None:
        reached = self._max_steps is not None and global_step >= self._max_steps
        for evaluation in self._evaluations:
            if evaluation.is_due(global_step):
                evaluation.run(is_final=reached or self.is_ending)
            elif evaluation.spec.every_steps is None:
                _LOG.info(
                    "Skip the current checkpoint eval due to throttle secs (%s secs).",
                    evaluation.spec.throttle_secs,
                )
        if not self.is_ending and all(e.metrics is not None for e in self._evaluations):
            self._after_round()

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Evaluates and exports the last checkpoint."""
        with contextlib.suppress(preemption.Preempted):  # The next start does it.
            preemption.raise_if_requested("evaluating")
            for evaluation in self._evaluations:
                evaluation.finish(global_step_value)
