"""What trainings in model_dirs recorded, and how their settings differ."""

import dataclasses
import os
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train import remote
from estimator_train.engine.run.history import (
    FILE_NAME,
    read_goodput,
    read_lines,
    read_straggler,
)
from estimator_train.engine.storage import find_files
from estimator_train.goodput import Goodput, read_entries
from estimator_train.json_numbers import restore_non_finite

Points = list[tuple[int, float]]
_RATE_TAG = "global_step/sec"
_CHECKPOINT = re.compile(r"model\.ckpt-(\d+)\.index$")
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_SPEEDS = ("/sec", "_per_sec")


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
    _check_directory(model_dir)
    path = os.path.join(model_dir, FILE_NAME)
    lines: list[dict[str, Any]] = []
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "rb") as file:
            lines = list(read_entries(read_lines(file)))
    lines = lines or list(_read_events(model_dir))
    evaluations = [line for line in lines if "eval" in line]
    training = [line for line in lines if "eval" not in line]
    losses = [{**line, **line.get("metrics", {})} for line in evaluations if not line["eval"]]
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
        value = restore_non_finite(line[key]) if key in line else None
        if isinstance(value, (int, float)):
            while points and points[-1][0] >= line["step"]:
                points.pop()
            points.append((line["step"], float(value)))
    return points


def _read_events(model_dir: str) -> Iterator[dict[str, Any]]:
    """Yields lines like those of a history from the event files of training and evaluation."""
    for path in sorted(find_files(model_dir, "/*.tfevents.*")):
        for step, tag, value in read_scalars(path):
            if tag in ("loss", _RATE_TAG):
                yield {"step": step, "loss" if tag == "loss" else "steps_per_sec": value}
    for path in sorted(find_files(model_dir, "/eval/*.tfevents.*")):
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


class Value(NamedTuple):
    """What a value is: a variable of a checkpoint or a scalar of an event file.

    Attributes:
      step: The global step.
      kind: "variable", "training" or the directory of evaluations.
      name: Name of the variable, or tag of the scalar.
    """

    step: int
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} at step {self.step}"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Result of a comparison.

    Attributes:
      largest: The largest absolute difference of each value that both sides have.
      different: The values that differ by more than the tolerance, with the reason.
      missing: The values that one side lacks, with the name of that side.
    """

    largest: dict[Value, float]
    different: dict[Value, str]
    missing: dict[Value, str]

    def describe(self) -> list[str]:
        """Returns lines for users: what was compared, and what differs first."""
        lines = [self._describe_kind(kind) for kind in sorted({v.kind for v in self.largest})]
        for value, side in sorted(self.missing.items())[:5]:
            lines.append(f"{value} is missing in {side}")
        first_step = min((value.step for value in self.different), default=0)
        first = [value for value in sorted(self.different) if value.step == first_step]
        lines += [f"{value} differs: {self.different[value]}" for value in first[:5]]
        return lines

    def _describe_kind(self, kind: str) -> str:
        values = {value: size for value, size in self.largest.items() if value.kind == kind}
        steps = sorted({value.step for value in values})
        worst = max(values, key=lambda value: values[value])
        where = f" ({worst.name} at step {worst.step})" if values[worst] else ""
        span = f"steps {steps[0]} to {steps[-1]}" if len(steps) > 1 else f"step {steps[0]}"
        return (
            f"{kind}: {len(values)} values at {span}, largest difference {values[worst]:.2g}{where}"
        )

    def explain(self) -> str:
        """Returns the likely cause of the first difference; an empty text if there is none."""
        if not self.different:
            return ""
        if any(value.kind == "variable" and value.step == 0 for value in self.different):
            return (
                "The initial values differ. Set RunConfig(tf_random_seed=...) on both sides, or "
                "start both from one checkpoint with --copy_start."
            )
        return (
            "The initial values are equal or not known. Look for shuffling without a seed, for "
            "dropout (RunConfig(steps_per_loop=1) gives the random numbers of tf.estimator), and "
            "for input that differs."
        )


def compare_model_dirs(old: str, new: str, rtol: float, atol: float) -> Comparison:
    """Compares the checkpoints and event files of two directories.

    Args:
      old: The first model_dir.
      new: The second model_dir.
      rtol: Tolerance relative to the old value.
      atol: Absolute tolerance. Values differ if `abs(new - old) > atol + rtol * abs(old)`, as for
        `numpy.isclose`.

    Raises:
      ValueError: A directory does not exist, or the two have no checkpoint of the same step.
    """
    steps = {directory: _list_steps(directory) for directory in (old, new)}
    common = sorted(steps[old] & steps[new])
    if not common:
        raise ValueError(
            f"{old} and {new} have no checkpoints of the same step: {sorted(steps[old])} and "
            f"{sorted(steps[new])}. Train both for the same number of steps."
        )
    values = {
        directory: {**_read_variables(directory, common), **_read_last_values(directory)}
        for directory in (old, new)
    }
    return _compare(values[old], values[new], (old, new), rtol, atol)


def _compare(
    old: Mapping[Value, np.ndarray],
    new: Mapping[Value, np.ndarray],
    sides: tuple[str, str],
    rtol: float,
    atol: float,
) -> Comparison:
    result = Comparison({}, {}, {})
    for value in {**old, **new}:
        if value not in old or value not in new:
            result.missing[value] = sides[0] if value not in old else sides[1]
            continue
        a, b = np.asarray(old[value]), np.asarray(new[value])
        if a.shape != b.shape:
            result.different[value] = f"shape {list(a.shape)} and {list(b.shape)}"
        elif a.dtype.kind in "OSU" or b.dtype.kind in "OSU":
            if not np.array_equal(a, b):
                result.different[value] = "other strings"
        else:
            a, b = a.astype(np.float64), b.astype(np.float64)
            size = float(np.nan_to_num(np.abs(b - a), nan=0.0).max(initial=0.0))
            result.largest[value] = size
            if not np.isclose(b, a, rtol=rtol, atol=atol, equal_nan=True).all():
                result.different[value] = f"by up to {size:.3g}"
    return result


def _check_directory(model_dir: str) -> None:
    remote.prepare_path(model_dir, "model_dir")
    if not tf.io.gfile.isdir(model_dir):
        remote.check_path(model_dir, "model_dir")  # Names missing credentials or a missing bucket.
        raise ValueError(f"{model_dir} is not a directory.")


def _list_steps(model_dir: str) -> set[int]:
    _check_directory(model_dir)
    names = map(_CHECKPOINT.search, tf.io.gfile.listdir(model_dir))
    return {int(match[1]) for match in names if match}


def _read_variables(model_dir: str, steps: Iterable[int]) -> dict[Value, np.ndarray]:
    found = {}
    for step in steps:
        reader = tf.train.load_checkpoint(os.path.join(model_dir, f"model.ckpt-{step}"))
        for name in reader.get_variable_to_shape_map():
            if name != _OBJECT_GRAPH:
                found[Value(step, "variable", name)] = np.asarray(reader.get_tensor(name))
    return found


def _read_last_values(model_dir: str) -> dict[Value, np.ndarray]:
    """Returns the scalars of training and of all evaluations, but no speeds."""
    paths = dict.fromkeys(find_files(model_dir, "/*.tfevents.*"), "training")
    for path in find_files(model_dir, "/eval*/*.tfevents.*"):
        paths[path] = os.path.basename(os.path.dirname(path))
    return {
        Value(step, kind, tag): np.asarray(value)
        for path, kind in sorted(paths.items())
        for step, tag, value in read_scalars(path)
        if not tag.endswith(_SPEEDS)
    }
