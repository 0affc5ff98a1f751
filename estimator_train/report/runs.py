"""Reads the history of trainings from a model_dir."""

import os
import statistics
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.engine.run.history import FILE_NAME, read_goodput, read_straggler
from estimator_train.goodput.account import Goodput, read_objects

Points = list[tuple[int, float]]
_RATE_TAG = "global_step/sec"


class Run(NamedTuple):
    """History of a run, as pairs of (global step, value) with increasing steps.

    Attributes:
      name: Directory of the run.
      loss: Losses of training.
      steps_per_sec: Steps per second.
      examples_per_sec: Examples per second over all replicas; empty if unknown.
      eval_loss: Losses of evaluations.
      replicas: Number of replicas; None if unknown.
      goodput: Useful and lost time over all restarts; None without records.
      straggler: Sentence that names the slowest task of a cluster; "" if none is slow.
    """

    name: str
    loss: Points
    steps_per_sec: Points
    examples_per_sec: Points
    eval_loss: Points
    replicas: int | None
    goodput: Goodput | None = None
    straggler: str = ""

    def summary(self) -> str:
        """Returns one line with the last step, the last losses, and the median rates."""
        parts = [f"step {max(step for step, _ in self.loss + self.eval_loss)}"]
        for name, points in (("loss", self.loss), ("evaluation loss", self.eval_loss)):
            parts += [f"{name} {points[-1][1]:.4g}"] if points else []
        for unit, points in (("steps", self.steps_per_sec), ("examples", self.examples_per_sec)):
            parts += [f"{compute_median(points):,.4g} {unit}/s"] if points else []
        return ", ".join(parts)


def compute_median(points: Points) -> float:
    """Returns the median of the values of points."""
    return statistics.median(value for _, value in points)


def read_run(model_dir: str) -> Run:
    """Reads the history of a run, or its event files if there is no history.

    Args:
      model_dir: Directory of the run.

    Raises:
      ValueError: The directory does not exist, or has no losses of a training.
    """
    if not tf.io.gfile.isdir(model_dir):
        raise ValueError(f"{model_dir} is not a directory.")
    path = os.path.join(model_dir, FILE_NAME)
    lines: list[dict[str, Any]] = []
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path) as file:
            lines = [line for line in read_objects(file) if "step" in line]
    lines = lines or list(_read_events(model_dir))
    evaluations = [line for line in lines if "eval" in line]
    training = [line for line in lines if "eval" not in line]
    losses = [{**line, **line["metrics"]} for line in evaluations if not line["eval"]]
    run = Run(
        model_dir,
        _collect_points(training, "loss"),
        _collect_points(training, "steps_per_sec"),
        _collect_points(training, "examples_per_sec"),
        _collect_points(losses, "loss"),
        next((line["replicas"] for line in reversed(training) if "replicas" in line), None),
        read_goodput(model_dir),
        read_straggler(model_dir),
    )
    if not run.loss and not run.eval_loss:
        raise ValueError(
            f"{model_dir} has no history of a training: neither {FILE_NAME} nor event files in it "
            "contain a loss."
        )
    return run


def _collect_points(lines: Iterable[dict[str, Any]], key: str) -> Points:
    """Returns the values of a key; steps that a restarted training repeated replace old values."""
    points: Points = []
    for line in lines:
        if key in line:
            while points and points[-1][0] >= line["step"]:
                points.pop()
            points.append((line["step"], float(line[key])))
    return points


def _read_events(model_dir: str) -> Iterator[dict[str, Any]]:
    """Yields lines like those of a history from the event files of training and evaluation."""
    for path in sorted(tf.io.gfile.glob(os.path.join(model_dir, "*.tfevents.*"))):
        for step, tag, value in read_scalars(path):
            if tag in ("loss", _RATE_TAG):
                yield {"step": step, "loss" if tag == "loss" else "steps_per_sec": value}
    for path in sorted(tf.io.gfile.glob(os.path.join(model_dir, "eval", "*.tfevents.*"))):
        for step, tag, value in read_scalars(path):
            if tag == "loss":
                yield {"step": step, "metrics": {"loss": value}, "eval": ""}


def read_scalars(path: str) -> Iterator[tuple[int, str, float]]:
    """Yields (global step, tag, value) of the scalars in an event file, as far as it is complete.

    Args:
      path: Path of the file.
    """
    try:
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    yield event.step, value.tag, value.simple_value
    except tf.errors.DataLossError:
        return  # The file is being written, or its job was killed.
