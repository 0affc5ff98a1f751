"""Metrics that evaluations have written, and the rules by which early stopping watches them."""

import dataclasses
import glob
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

_LOG = tf.get_logger()


class EvalMetrics:
    """Reader of metrics in event files; each read covers the records added since the last one.

    Args:
      pattern: Glob pattern of the event files. Where they have one step and metric several
        times, the last record counts; an incomplete record is left for the next read.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._loaders: dict[str, Any] = {}
        self._metrics: dict[int, dict[str, float]] = {}

    def read(self) -> dict[int, dict[str, float]]:
        """Returns global step to metric name to value, in the order of steps."""
        for path in sorted(tf.io.gfile.glob(self._pattern)):
            if path not in self._loaders:
                self._loaders[path] = LegacyEventFileLoader(path)
            for event in self._loaders[path].Load():
                for value in event.summary.value:
                    if value.HasField("simple_value"):
                        self._metrics.setdefault(event.step, {})[value.tag] = value.simple_value
        return {step: self._metrics[step] for step in sorted(self._metrics)}


def open_eval_metrics(eval_dir: str | bytes | os.PathLike[str]) -> EvalMetrics:
    """Returns a reader of all event files in a directory of `Estimator.eval_dir`."""
    return EvalMetrics(os.path.join(glob.escape(os.fsdecode(eval_dir)), "*.tfevents.*"))


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Reads the metrics of all evaluations in a directory.

    Args:
      eval_dir: The directory of an evaluation's event files, as `Estimator.eval_dir` gives it.

    Returns:
      Global step to metric name to value, in the order of steps; empty without evaluations.
    """
    return open_eval_metrics(eval_dir).read()


@dataclasses.dataclass(frozen=True)
class Rule:
    """Rule that decides by the values of a metric whether training stops.

    Attributes:
      metric_name: The metric.
      min_steps: Evaluations before this global step do not count.
    """

    metric_name: str
    min_steps: int

    def holds(self, values: list[tuple[int, float]]) -> bool:
        """Returns whether to stop, from pairs of global step and value, in the order of steps."""
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

    def holds(self, values: list[tuple[int, float]]) -> bool:
        """Returns whether a value has passed the threshold."""
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

    def holds(self, values: list[tuple[int, float]]) -> bool:
        """Returns whether the best value is `max_steps` old."""
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
        self._has_warned = False

    def should_stop(self) -> bool:
        """Returns whether the rule stops training.

        Before the first evaluation that counts, a missing metric is a warning: a model_dir may have
        evaluations of a model without the metric.

        Raises:
          MetricNotWrittenError: No evaluation has the metric.
        """
        metrics, name = self._metrics.read(), self._rule.metric_name
        counting = {step: each for step, each in metrics.items() if step >= self._rule.min_steps}
        written: set[str] = set().union(*metrics.values())
        if metrics and name not in written:
            message = (
                f"Early stopping waits for the metric '{name}', which the evaluations in "
                f"{self._eval_dir} do not write: they have {sorted(written)}. Name one of these, "
                "or add the metric to eval_metric_ops."
            )
            if counting:
                raise MetricNotWrittenError(message)
            if not self._has_warned:
                self._has_warned = True
                _LOG.warning("%s It is an error from step %d on.", message, self._rule.min_steps)
        values = [(step, each[name]) for step, each in counting.items() if name in each]
        return self._rule.holds(values)

    def check_written(self, eval_dirs: Sequence[str]) -> None:
        """Checks after an evaluation that it wrote the metric.

        Args:
          eval_dirs: The directories of the job's evaluations.

        Raises:
          MetricNotWrittenError: The watched evaluations do not have the metric.
        """
        if not self._metrics.read():
            if os.path.normpath(os.fsdecode(self._eval_dir)) in map(os.path.normpath, eval_dirs):
                return  # The evaluation read no batch, which its own warning says.
            _LOG.warning(
                "Early stopping waits for the metric '%s' in %s, where no evaluation is written: "
                "they go to %s. Training goes on without it; give one of these as eval_dir.",
                self._rule.metric_name,
                self._eval_dir,
                list(eval_dirs),
            )
            return
        self.should_stop()
