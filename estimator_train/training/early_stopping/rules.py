"""Rules of early stopping: when the evaluations of a metric say that training should stop."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.training.early_stopping.eval_metrics import metrics_in

_LOG = tf.get_logger()


@dataclasses.dataclass(frozen=True)
class Rule:
    """Whether the values of a metric are such that training should stop.

    Attributes:
      metric_name: The metric.
      min_steps: Evaluations before this global step do not count.
    """

    metric_name: str
    min_steps: int

    def holds(self, metrics: dict[int, dict[str, float]]) -> bool:
        """Whether to stop, from global step to metric name to value."""
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
    """A value has passed a threshold.

    Attributes:
      threshold: The value that must be passed.
      beyond: Whether its first argument has passed its second.
      relation: That in words.
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
    """The best value is some steps old.

    Attributes:
      max_steps: Those steps.
      better: Whether its first argument is better than its second.
      change: What makes a value better, in a word.
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
        return str(self.args[0])  # Which a KeyError would put into quotes.


class WatchedMetric:
    """The metric of some evaluations, and the rule that it is watched by."""

    def __init__(self, rule: Rule, eval_dir: str) -> None:
        self._rule = rule
        self._eval_dir = eval_dir
        self._metrics = metrics_in(eval_dir)

    def should_stop(self) -> bool:
        """Whether the evaluations so far say so.

        Raises:
          MetricNotWrittenError: There are evaluations and none of them has the metric.
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
        """Checks that the metric is written, now that there was an evaluation.

        Args:
          eval_dirs: The directories of the evaluations that are made.

        Raises:
          MetricNotWrittenError: There are evaluations where it is waited for, without the metric.
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
