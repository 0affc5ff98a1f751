"""Rules of early stopping: which values of a metric stop training."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.training.early_stopping.eval_metrics import open_eval_metrics

_LOG = tf.get_logger()


@dataclasses.dataclass(frozen=True)
class Rule:
    """Rule that decides by the values of a metric whether training stops.

    Attributes:
      metric_name: The metric.
      min_steps: Evaluations before this global step do not count.
    """

    metric_name: str
    min_steps: int

    def holds(self, metrics: dict[int, dict[str, float]]) -> bool:
        """Returns whether to stop, from metrics by global step and metric name."""
        name = self.metric_name
        return self._holds(
            [
                (step, values[name])
                for step, values in metrics.items()
                if step >= self.min_steps and name in values
            ]
        )

    def _holds(self, values: list[tuple[int, float]]) -> bool:
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Threshold(Rule):
    """Rule that stops once a value passes a threshold.

    Attributes:
      threshold: The value that must be passed.
      beyond: Function that returns whether its first argument has passed its second.
      relation: The relation in words, for the log.
    """

    threshold: float
    beyond: Callable[[Any, Any], bool]
    relation: str

    def _holds(self, values: list[tuple[int, float]]) -> bool:
        for step, value in values:
            if self.beyond(value, self.threshold):
                _LOG.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold '
                    "(%s) for early stopping.",
                    step,
                    self.metric_name,
                    value,
                    self.relation,
                    self.threshold,
                )
                return True
        return False


@dataclasses.dataclass(frozen=True)
class NoChange(Rule):
    """Rule that stops once the best value is some steps old.

    Attributes:
      max_steps: The number of steps.
      better: Function that returns whether its first argument is better than its second.
      change: Word for an improvement, for the log.
    """

    max_steps: int
    better: Callable[[Any, Any], bool]
    change: str

    def _holds(self, values: list[tuple[int, float]]) -> bool:
        best: tuple[int, float] | None = None
        for step, value in values:
            if best is None or self.better(value, best[1]):
                best = (step, value)
            if step - best[0] >= self.max_steps:
                _LOG.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max '
                    "steps (%s) configured for early stopping.",
                    self.change,
                    self.metric_name,
                    step - best[0],
                    self.max_steps,
                )
                return True
        return False


class MetricNotWrittenError(KeyError, ValueError):
    """The evaluations do not have the metric; a KeyError, as in tf.estimator 2.15."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would add quotes.


class WatchedMetric:
    """Metric of some evaluations, with the rule that watches it."""

    def __init__(self, rule: Rule, eval_dir: str) -> None:
        self._rule = rule
        self._eval_dir = eval_dir
        self._metrics = open_eval_metrics(eval_dir)

    def should_stop(self) -> bool:
        """Returns whether the rule stops training.

        Raises:
          MetricNotWrittenError: No evaluation has the metric.
        """
        metrics = self._metrics.read()
        written = {name for values in metrics.values() for name in values}
        if metrics and self._rule.metric_name not in written:
            raise MetricNotWrittenError(
                f"Early stopping waits for the metric '{self._rule.metric_name}', which the "
                f"evaluations in {self._eval_dir} do not write: they have {sorted(written)}. "
                "Name one of these, or add the metric to eval_metric_ops."
            )
        return self._rule.holds(metrics)

    def check_written(self, eval_dirs: Sequence[str]) -> None:
        """Checks after an evaluation that it wrote the metric.

        Args:
          eval_dirs: The directories of the job's evaluations.

        Raises:
          MetricNotWrittenError: The watched evaluations do not have the metric.
        """
        if not self._metrics.read():
            _LOG.warning(
                "Early stopping waits for the metric '%s' in %s, where no evaluation is written: "
                "they go to %s. Training goes on without it; give one of these as eval_dir.",
                self._rule.metric_name,
                self._eval_dir,
                list(eval_dirs),
            )
            return
        self.should_stop()
