"""Private names of tf.estimator that trackers, tuners and training platforms use."""

import time
from typing import Any

import tensorflow as tf

import estimator_train as est
from estimator_train.training.eval_metrics import read_eval_metrics

__all__ = ["read_eval_metrics"]  # Optuna's TensorFlowPruningHook.

# Comet replaces methods of these classes.
BaselineClassifierV2 = est.BaselineClassifier
BaselineEstimatorV2 = est.BaselineEstimator
BaselineRegressorV2 = est.BaselineRegressor
DNNClassifierV2 = est.DNNClassifier
DNNEstimatorV2 = est.DNNEstimator
DNNRegressorV2 = est.DNNRegressor
DNNLinearCombinedClassifierV2 = est.DNNLinearCombinedClassifier
DNNLinearCombinedEstimatorV2 = est.DNNLinearCombinedEstimator
DNNLinearCombinedRegressorV2 = est.DNNLinearCombinedRegressor
LinearClassifierV2 = est.LinearClassifier
LinearEstimatorV2 = est.LinearEstimator
LinearRegressorV2 = est.LinearRegressor


class _NewCheckpointListenerForEvaluate(tf.compat.v1.train.CheckpointSaverListener):
    """Listener that evaluates each new checkpoint, for Determined's EstimatorTrial.

    Args:
      evaluator: Object whose `evaluate_and_export` returns the metrics and exports.
      eval_throttle_secs: Minimum seconds between two evaluations.
      continuous_eval_listener: Decides before and after an evaluation whether training continues.
    """

    def __init__(
        self, evaluator: Any, eval_throttle_secs: float, continuous_eval_listener: Any
    ) -> None:
        self._evaluator = evaluator
        self._eval_throttle_secs = eval_throttle_secs
        self._continuous_eval_listener = continuous_eval_listener
        self.eval_result, self.export_results = None, None
        self._has_saved = False
        self._next_time = 0.0

    def begin(self) -> None:
        """Starts a training, whose first checkpoint is not evaluated."""
        self._has_saved = False

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Evaluates the checkpoint if an evaluation is due; returns True to stop training."""
        del session, global_step_value
        is_first, self._has_saved = not self._has_saved, True
        if is_first or time.monotonic() < self._next_time:
            return None
        if not self._continuous_eval_listener.before_eval():
            return True
        self._evaluate()
        return None if self._continuous_eval_listener.after_eval(self.eval_result) else True

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluates the last checkpoint."""
        del session, global_step_value
        if self._has_saved and self._continuous_eval_listener.before_eval():
            self._evaluate()
            self._continuous_eval_listener.after_eval(self.eval_result)

    def _evaluate(self) -> None:
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        self._next_time = time.monotonic() + self._eval_throttle_secs
