"""Converts the model of an Estimator to a format of another runtime, and proves the result."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.job import Job
from estimator_train.engine.types import InputFn
from estimator_train.export.portable import encoder
from estimator_train.export.portable.checkpoint_files import name_output
from estimator_train.export.portable.portable_graph import build_portable_graph, compute_expected
from estimator_train.export.portable.rows import Rows, read_rows
from estimator_train.export.portable.targets import (
    TARGETS,
    ConversionError,
    check_packages,
    convert_graph,
    run_model,
)
from estimator_train.remote import write_locally

_ROWS = 100


class _HasContext(Protocol):
    """An Estimator, whose module imports this one."""

    def _make_job(self, mode: str | None) -> Job: ...


@dataclasses.dataclass(frozen=True)
class Conversion:
    """Result of a conversion.

    Attributes:
      path: Directory with the model, `encoder.json` and `encoder.py`.
      rows: Number of rows that the format's runtime computed; 0 if it is not one of Python.
      differences: Output name to the largest difference from TensorFlow's answers: absolute for
        values up to 1, relative for larger ones; 0 for integers, which must be equal.
    """

    path: str
    rows: int
    differences: dict[str, float]


def convert(
    estimator: _HasContext,
    path: str | os.PathLike[str],
    input_fn: InputFn,
    *,
    to: str,
    signature: str | None = None,
    outputs: Collection[str] | None = None,
    checkpoint_path: str | None = None,
    tolerance: float = 1e-5,
    rows: int = _ROWS,
    converter_python: str | None = None,
) -> Conversion:
    """Converts the model of an Estimator to a format that runs without TensorFlow.

    The model's inputs are its numeric features and, for each categorical column, ids. The export
    contains a NumPy encoder from the features, such as strings, to these inputs. The format's
    runtime then computes some rows of input_fn, and their outputs are compared with TensorFlow's.

    Args:
      estimator: The Estimator, canned or with a model_fn.
      path: New directory for the model, `encoder.json` and `encoder.py`, on a disk or a store.
      input_fn: As for `predict`; it defines the features and gives the rows for the comparison.
      to: "onnx", "tflite" or "openvino", which need the extra of the same name, or "tfjs", whose
        runtime of JavaScript is not started: its rows are not compared.
      signature: Key of the model's export_outputs; by default "predict" or the default signature.
      outputs: Names of outputs; by default all of the signature that are not strings.
      checkpoint_path: The checkpoint; by default the latest.
      tolerance: Largest difference of an output: absolute for values up to 1, relative for larger
        ones.
      rows: Number of rows to compare.
      converter_python: Interpreter of an environment that has the converter, such as tensorflowjs;
        by default this one.

    Returns:
      The directory and the differences.

    Raises:
      ValueError: There is no checkpoint, the directory exists, the signature, an output or the
        format does not exist, the model cannot be converted, the answers differ, or `rows` or
        `tolerance` is no useful number.
      TypeError: `estimator` is no Estimator, or `input_fn` no function.
      ImportError: A package of the format is not installed.
    """
    if to not in TARGETS:
        raise ValueError(f"to='{to}' is not a format; choose one of {sorted(TARGETS)}.")
    if not hasattr(estimator, "_make_job"):
        raise TypeError(
            f"estimator={estimator!r} must be an Estimator, constructed as to train it."
        )
    if not callable(input_fn):
        raise TypeError(f"input_fn={input_fn!r} must be a function, as for `predict`.")
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance} must be a number of at least 0, such as 1e-5.")
    if rows < 1:
        raise ValueError(f"rows={rows}: the conversion is proved with at least one row.")
    if isinstance(outputs, str):
        raise ValueError(f"outputs='{outputs}' is a string; pass a list of names: ['{outputs}'].")
    check_packages(to, converter_python)
    job = estimator._make_job(None)
    checkpoint_path = checkpoint_path or latest_checkpoint(job.model_dir)
    if checkpoint_path is None:
        raise ValueError(f"{job.model_dir} has no checkpoint: train the model first.")
    with (
        write_locally(os.fsdecode(path)) as local,
        _open_new_directory(local) as new_dir,
        tempfile.TemporaryDirectory() as work,
    ):
        found = read_rows(job, input_fn, rows)
        model = (job, found, checkpoint_path, signature, outputs)
        graph = build_portable_graph(*model, has_trees=TARGETS[to].has_trees)
        _write_encoder(new_dir, graph.description)
        expected = compute_expected(*model)
        inputs = encoder.Encoder(graph.description).encode(found.get_plain_values())
        file = convert_graph(to, graph, work, new_dir, converter_python)
        if TARGETS[to].runtime is None:
            return Conversion(os.fsdecode(path), 0, {})
        answers = run_model(to, file, inputs, list(graph.outputs), work)
        differences = compare_outputs(expected, answers, tolerance)
    return Conversion(os.fsdecode(path), _count_rows(found), differences)


def compare_outputs(
    expected: Mapping[str, np.ndarray], answers: Mapping[str, np.ndarray], tolerance: float
) -> dict[str, float]:
    """Returns the largest difference of each output.

    Args:
      expected: Output name to TensorFlow's answer.
      answers: Output name to the answer of another runtime.
      tolerance: The largest difference that is allowed.

    Raises:
      ConversionError: An output has another shape, or differs by more.
    """
    differences = {}
    for name, wanted in expected.items():
        given = answers[name]
        if given.shape != wanted.shape:
            raise ConversionError(
                f"Output '{name}' has the shape {given.shape} instead of {wanted.shape}."
            )
        if wanted.dtype.kind in "iub":
            difference, allowed = float(np.sum(given != wanted)), 0.0
            measure = "rows differ"
        else:
            # NaN and infinity have no difference: they must be where TensorFlow has them.
            is_same = (given == wanted) | (np.isnan(given) & np.isnan(wanted))
            answer, value = given[~is_same], wanted[~is_same]
            scale = np.where(np.isinf(value), 1.0, np.maximum(1.0, np.abs(value)))
            difference = float(np.max(np.abs(answer - value) / scale, initial=0.0))
            allowed, measure = tolerance, "is the largest difference"
        if not difference <= allowed:
            raise ConversionError(
                f"Output '{name}' of the converted model is wrong: {difference:.3g} {measure}, and "
                f"{allowed:.3g} is allowed."
            )
        differences[name] = difference
    return differences


def _write_encoder(directory: str, description: Mapping[str, Any]) -> None:
    with open(os.path.join(directory, "encoder.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=1)
    shutil.copyfile(encoder.__file__, os.path.join(directory, "encoder.py"))


@contextlib.contextmanager
def _open_new_directory(path: str) -> Iterator[str]:
    """Yields a temporary directory, which becomes `path`, or is removed after an error."""
    if os.path.exists(path):
        raise FileExistsError(f"{path} exists. Use a new directory.")
    parent = os.path.dirname(os.path.abspath(path))
    with name_output(path):
        os.makedirs(parent, exist_ok=True)
        temporary = tempfile.mkdtemp(prefix=".conversion-", dir=parent)
    try:
        os.chmod(temporary, 0o777 & ~_read_umask())
        yield temporary
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _count_rows(rows: Rows) -> int:
    return max(len(value) for value in rows.get_plain_values().values())
