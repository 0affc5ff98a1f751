"""The monitor that evaluates, and stops when that gets no better."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.learn.monitors.base import EveryN


class ValidationMonitor(EveryN):
    """Evaluates the newest checkpoint, and stops when that has not got better for some steps.

    Args:
      x: Features of the evaluation, of an estimator of tf.contrib.learn.
      y: Labels of these.
      input_fn: The input, instead of x and y.
      batch_size: Examples in a batch of x.
      eval_steps: Batches of an evaluation.
      every_n_steps: How often it looks for a new checkpoint.
      metrics: MetricSpecs, of an estimator of tf.contrib.learn.
      hooks: Hooks of the evaluations.
      early_stopping_rounds: Stops after so many steps without a better value; None: never.
      early_stopping_metric: Whose value.
      early_stopping_metric_minimize: Whether smaller is better.
      name: Of the evaluation.
      check_interval_secs: Looks for a new checkpoint at most so often; None: at all times.

    Raises:
      ValueError: There is no input.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        given = {"x": x, "y": y, "batch_size": batch_size, "metrics": metrics}
        given |= {"input_fn": input_fn, "steps": eval_steps, "hooks": hooks, "name": name}
        self._arguments = {key: value for key, value in given.items() if value is not None}
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._sign = 1 if early_stopping_metric_minimize else -1
        self._seconds = check_interval_secs
        self._checkpoint: str | None = None
        self._looked: float | None = None
        self._best: tuple[int | None, Any, Any] = (None, None, None)
        self._stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it has stopped the training."""
        return self._stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation."""
        return self._best[0]

    @property
    def best_value(self) -> Any:
        """The value of the best evaluation."""
        return self._best[1]

    @property
    def best_metrics(self) -> Any:
        """All metrics of the best evaluation."""
        return self._best[2]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """See EveryN."""
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._finds_a_checkpoint():
            return False
        found = self._estimator.evaluate(**self._arguments)
        if self._rounds is None:
            return False
        if self._metric not in found:
            raise ValueError(f"Metric {self._metric} missing from outputs {set(found)}.")
        return self._is_over(int(found.get("global_step", step)), found)

    def _finds_a_checkpoint(self) -> bool:
        now = time.monotonic()
        last, seconds = self._looked, self._seconds
        if last is not None and seconds is not None and now - last < seconds:
            return False
        self._looked = now
        newest = tf.train.latest_checkpoint(self._estimator.model_dir)
        if newest is None or newest == self._checkpoint:
            return False
        self._checkpoint = newest
        return True

    def _is_over(self, step: int, found: Mapping[str, Any]) -> bool:
        value = found[self._metric]
        best_step, best_value, _ = self._best
        if best_step is None or self._sign * value < self._sign * best_value:
            self._best = (step, value, found)
            return False
        self._stopped = step - best_step >= (self._rounds or 0)
        if self._stopped:
            tf.compat.v1.logging.info(
                "Stopping. Best step: %d with %s = %s.", best_step, self._metric, best_value
            )
        return self._stopped
