"""Monitor that evaluates, and stops training when the metric no longer improves."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Arrays, Hook
from tf_contrib.learn.monitors.base import EveryN


class ValidationMonitor(EveryN):
    """Monitor that evaluates new checkpoints and can stop training early.

    Args:
      x: Features of the evaluation, for estimators of tf.contrib.learn.
      y: Labels of x.
      input_fn: Input function, instead of x and y.
      batch_size: Number of examples in a batch of x.
      eval_steps: Number of batches of an evaluation.
      every_n_steps: Steps between checks for a new checkpoint.
      metrics: MetricSpecs by name, for estimators of tf.contrib.learn.
      hooks: Hooks of the evaluation.
      early_stopping_rounds: Steps without improvement after which training stops; None: never.
      early_stopping_metric: Metric that must improve.
      early_stopping_metric_minimize: Whether a smaller metric is better.
      name: Name of the evaluation.
      check_interval_secs: Minimum seconds between checks for a new checkpoint, or None.

    Raises:
      ValueError: Neither x nor input_fn is given.
    """

    def __init__(
        self,
        x: Arrays | None = None,
        y: Arrays | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[str, Any] | None = None,
        hooks: Sequence[Hook] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        arguments: dict[str, Any] = {"x": x, "y": y, "batch_size": batch_size, "metrics": metrics}
        arguments |= {"input_fn": input_fn, "steps": eval_steps, "hooks": hooks, "name": name}
        self._arguments = {key: value for key, value in arguments.items() if value is not None}
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._factor = 1 if early_stopping_metric_minimize else -1
        self._seconds = check_interval_secs
        self._checkpoint: str | None = None
        self._checked_at: float | None = None
        self._best: tuple[int | None, Any, Any] = (None, None, None)
        self._stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether the monitor stopped the training."""
        return self._stopped

    @property
    def best_step(self) -> int | None:
        """Step of the best evaluation."""
        return self._best[0]

    @property
    def best_value(self) -> Any:
        """Metric of the best evaluation."""
        return self._best[1]

    @property
    def best_metrics(self) -> Mapping[str, Any] | None:
        """All metrics of the best evaluation."""
        return self._best[2]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._find_new_checkpoint():
            return False
        results = self._estimator.evaluate(**self._arguments)
        if self._rounds is None:
            return False
        if self._metric not in results:
            raise ValueError(f"Metric {self._metric} missing from outputs {set(results)}.")
        return self._should_stop(step, results)

    def _find_new_checkpoint(self) -> bool:
        now = time.monotonic()
        last, seconds = self._checked_at, self._seconds
        if last is not None and seconds is not None and now - last < seconds:
            return False
        self._checked_at = now
        newest = self._estimator.latest_checkpoint()
        if newest is None or newest == self._checkpoint:
            return False
        self._checkpoint = newest
        return True

    def _should_stop(self, step: int, found: Mapping[str, Any]) -> bool:
        value = found[self._metric]
        best_step, best_value, _ = self._best
        if best_step is None or self._factor * value < self._factor * best_value:
            self._best = (step, value, found)
            return False
        self._stopped = step - best_step >= (self._rounds or 0)
        if self._stopped:
            tf.compat.v1.logging.info(
                "Stopping. Best step: %d with %s = %s.", best_step, self._metric, best_value
            )
        return self._stopped
