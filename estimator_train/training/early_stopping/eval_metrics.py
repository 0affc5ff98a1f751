"""Metrics in the event files of evaluations."""

import os
from typing import Any

import tensorflow as tf
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader


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
    return EvalMetrics(os.path.join(os.fsdecode(eval_dir), "*.tfevents.*"))


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Reads the metrics of all evaluations in a directory.

    Args:
      eval_dir: The directory of an evaluation's event files, as `Estimator.eval_dir` gives it.

    Returns:
      Global step to metric name to value, in the order of steps; empty without evaluations.
    """
    return open_eval_metrics(eval_dir).read()
