"""When an `Experiment` evaluates and exports during its training."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_train as est
from tf_contrib._types import RunContext, RunValues, Session
from tf_contrib.learn.export_strategies import ExportStrategy


class EvaluateNewCheckpointsHook(tf.compat.v1.train.SessionRunHook):
    """Hook that evaluates the latest checkpoint, unless it has done so before.

    Args:
      estimator: The estimator that is trained.
      evaluate: Function that evaluates the latest checkpoint.
      every_steps: Minimum steps between two evaluations.
      check_interval_secs: Minimum seconds between two looks for a new checkpoint.
    """

    def __init__(
        self,
        estimator: Any,
        evaluate: Callable[[], Any],
        every_steps: int,
        check_interval_secs: float,
    ) -> None:
        self._estimator, self._evaluate = estimator, evaluate
        self._every, self._interval = every_steps, check_interval_secs
        self._evaluated: str | None = None
        self._is_new = False
        self._checked_at: float | None = None
        self._last_step = 0

    def begin(self) -> None:
        """Finds the global step of the graph."""
        self._global_step = tf.compat.v1.train.get_global_step()

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the steps until an evaluation; None without a new checkpoint."""
        return self._last_step + self._every - global_step if self._finds_new() else None

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Evaluates a new checkpoint if an evaluation is due."""
        if not self._finds_new():
            return
        step = int(run_context.session.run(self._global_step))
        if step < self._last_step + self._every:
            return
        self._last_step += (step - self._last_step) // self._every * self._every
        self._evaluated, self._is_new = self._estimator.latest_checkpoint(), False
        self._evaluate()

    def _finds_new(self) -> bool:
        now = time.monotonic()
        if self._checked_at is None or now - self._checked_at >= self._interval:
            self._checked_at = now
            self._is_new = self._estimator.latest_checkpoint() not in (None, self._evaluated)
        return self._is_new


class EvaluateAndExportListener(tf.compat.v1.train.CheckpointSaverListener):
    """Listener that evaluates and exports each checkpoint.

    Args:
      evaluate: Function that evaluates the latest checkpoint and returns the metrics.
      export: Function of these metrics that exports the checkpoint and returns the paths.

    Attributes:
      results: Metrics of the last checkpoint; None before the first.
      exports: Paths of its exports.
    """

    def __init__(
        self, evaluate: Callable[[], Mapping[str, Any]], export: Callable[[Any], list[Any]]
    ) -> None:
        self.results: Mapping[str, Any] | None = None
        self.exports: list[Any] | None = None
        self._evaluate, self._export = evaluate, export

    def after_save(self, session: Session, global_step_value: int) -> None:
        """Evaluates and exports the checkpoint."""
        self.results = self._evaluate()
        self.exports = self._export(self.results)


class StrategyExporter(est.Exporter):
    """Exporter that calls an export strategy, for a cluster.

    Args:
      estimator: The estimator that the strategy exports.
      strategy: The strategy.
      exports_each: Whether it exports each evaluated checkpoint, not only the last.
    """

    def __init__(self, estimator: Any, strategy: ExportStrategy, exports_each: bool) -> None:
        self._estimator, self._strategy, self._exports_each = estimator, strategy, exports_each
        self._last: tuple[str | None, Any] = None, None

    @property
    def name(self) -> str:
        """The name of its directory below `model_dir/export`."""
        return self._strategy.name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Calls the strategy, once for a checkpoint."""
        if self._last[0] != checkpoint_path and (self._exports_each or is_the_final_export):
            # As in TensorFlow 1.15, whose strategies get a path of bytes, and no checkpoint if
            # they export the last one only.
            path = checkpoint_path if self._exports_each else None
            directory = os.fsencode(export_path)
            exported = self._strategy.export(self._estimator, directory, path, eval_result)
            self._last = checkpoint_path, exported
        return self._last[1]
