"""What a model_dir tells of its trainings: the figures that a report draws."""

import json
import os
import statistics
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.engine.run.history import FILE_NAME

Points = list[tuple[int, float]]
_RATE_TAG = "global_step/sec"


class Run(NamedTuple):
    """The figures of a run, each as (global step, value), steps ascending.

    Attributes:
      name: Its directory.
      loss: Losses of training.
      steps_per_sec: Steps a second.
      examples_per_sec: Examples a second, over all replicas; empty if it is not known.
      eval_loss: Losses of evaluations.
      replicas: How many replicas it trained on; None if it is not known.
    """

    name: str
    loss: Points
    steps_per_sec: Points
    examples_per_sec: Points
    eval_loss: Points
    replicas: int | None

    def summary(self) -> str:
        """One line: the last step, the last losses, and the median rates."""
        parts = [f"step {max(step for step, _ in self.loss + self.eval_loss)}"]
        for name, points in (("loss", self.loss), ("evaluation loss", self.eval_loss)):
            parts += [f"{name} {points[-1][1]:.4g}"] if points else []
        for unit, points in (("steps", self.steps_per_sec), ("examples", self.examples_per_sec)):
            parts += [f"{median(points):,.4g} {unit}/s"] if points else []
        return ", ".join(parts)


def median(points: Points) -> float:
    """The median value of points."""
    return statistics.median(value for _, value in points)


def read_run(model_dir: str) -> Run:
    """Reads a run's history, or its event files if it has none.

    Args:
      model_dir: Its directory.

    Raises:
      ValueError: The directory does not exist, or holds no figures of a training.
    """
    if not tf.io.gfile.isdir(model_dir):
        raise ValueError(f"{model_dir} is not a directory.")
    path = os.path.join(model_dir, FILE_NAME)
    lines = list(_lines(path)) if tf.io.gfile.exists(path) else []
    lines = lines or list(_events(model_dir))
    evaluations = [line for line in lines if "eval" in line]
    training = [line for line in lines if "eval" not in line]
    losses = [{**line, **line["metrics"]} for line in evaluations if not line["eval"]]
    run = Run(
        model_dir,
        _points(training, "loss"),
        _points(training, "steps_per_sec"),
        _points(training, "examples_per_sec"),
        _points(losses, "loss"),
        next((line["replicas"] for line in reversed(training) if "replicas" in line), None),
    )
    if not run.loss and not run.eval_loss:
        raise ValueError(
            f"{model_dir} has no figures of a training: it holds neither {FILE_NAME} nor event "
            "files with a loss."
        )
    return run


def _points(lines: Iterable[dict[str, Any]], key: str) -> Points:
    """The values of a key. What a later training from an earlier checkpoint did again replaces."""
    points: Points = []
    for line in lines:
        if key in line:
            while points and points[-1][0] >= line["step"]:
                points.pop()
            points.append((line["step"], float(line[key])))
    return points


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with tf.io.gfile.GFile(path) as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue  # A job that was killed may have left half a line.
            if isinstance(line, dict) and "step" in line:
                yield line


def _events(model_dir: str) -> Iterator[dict[str, Any]]:
    """The same lines as in a history, from event files of training and of evaluations."""
    for directory, own in ((model_dir, {}), (os.path.join(model_dir, "eval"), {"eval": ""})):
        for path in sorted(tf.io.gfile.glob(os.path.join(directory, "*.tfevents.*"))):
            for step, tag, value in _scalars(path):
                if tag == "loss" and own:
                    yield {"step": step, "metrics": {"loss": value}, **own}
                elif not own and tag in ("loss", _RATE_TAG):
                    yield {"step": step, "loss" if tag == "loss" else "steps_per_sec": value}


def _scalars(path: str) -> Iterator[tuple[int, str, float]]:
    try:
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    yield event.step, value.tag, value.simple_value
    except tf.errors.DataLossError:
        return  # The end of a file that is being written, or was when its job was killed.
