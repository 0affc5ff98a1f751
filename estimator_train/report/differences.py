"""Compares two model_dirs: variables of their checkpoints, losses and other scalars."""

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.report.runs import read_scalars

_CHECKPOINT = re.compile(r"model\.ckpt-(\d+)\.index$")
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_SPEEDS = ("/sec", "_per_sec")


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
        directory: {**_read_variables(directory, common), **_read_events(directory)}
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


def _list_steps(model_dir: str) -> set[int]:
    if not tf.io.gfile.isdir(model_dir):
        raise ValueError(f"{model_dir} is not a directory.")
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


def _read_events(model_dir: str) -> dict[Value, np.ndarray]:
    """Returns the scalars of training and of all evaluations, but no speeds."""
    paths = dict.fromkeys(tf.io.gfile.glob(f"{model_dir}/*.tfevents.*"), "training")
    for path in tf.io.gfile.glob(f"{model_dir}/eval*/*.tfevents.*"):
        paths[path] = os.path.basename(os.path.dirname(path))
    return {
        Value(step, kind, tag): np.asarray(value)
        for path, kind in sorted(paths.items())
        for step, tag, value in read_scalars(path)
        if not tag.endswith(_SPEEDS)
    }
