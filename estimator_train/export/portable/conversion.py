"""Converts the model of an Estimator to a format of another runtime, and proves the result."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.job import Job
from estimator_train.engine.types import InputFn
from estimator_train.export.portable import encoder, fingerprints
from estimator_train.export.portable.checkpoint_files import name_output
from estimator_train.export.portable.portable_graph import (
    PortableGraph,
    build_portable_graph,
    compute_expected,
)
from estimator_train.export.portable.rows import Rows, read_rows
from estimator_train.remote import write_locally

_ROWS = 100
_TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools.py")
_OPSET = 18
_MAX_ERROR = 400
# The import of `encoder.py` that a copy has no package for.
_IMPORT = re.compile(r"# Exports contain.*\nfrom estimator_train[^(\n]*(\([^)]*\))?\n")


class ConversionError(ValueError):
    """A converter or a runtime of another project failed, or its answers differ."""


@dataclasses.dataclass(frozen=True)
class Target:
    """Format that another project's converter writes and its runtime computes.

    Attributes:
      file: Name of the model's file in the directory of an export.
      converter: Package that converts.
      runtime: Package that computes; None if it is not one of Python.
      has_trees: Whether the format has an operation for boosted trees.
    """

    file: str
    converter: str
    runtime: str | None
    has_trees: bool = False


TARGETS = {
    "onnx": Target("model.onnx", "tf2onnx", "onnxruntime", has_trees=True),
    "tflite": Target("model.tflite", "tensorflow", "ai_edge_litert"),
    "openvino": Target("model.xml", "openvino", "openvino"),
    "tfjs": Target("model.json", "tensorflowjs", None),
}
# The requirements of this package replace TensorFlow by an older version.
_DOWNGRADES = "tensorflowjs"


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
        write_encoder(new_dir, graph.description)
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


def check_packages(format: str, converter_python: str | None = None) -> None:
    """Checks that the packages of a format are installed.

    Args:
      format: A key of TARGETS.
      converter_python: Interpreter of an environment that has the converter; None for this one.

    Raises:
      ImportError: A package is missing.
    """
    target = TARGETS[format]
    converter = None if converter_python else target.converter
    for package in filter(None, (converter, target.runtime)):
        if importlib.util.find_spec(package) is None:
            if package == _DOWNGRADES:
                raise ImportError(
                    f"The format {format} needs the package {package}, which replaces TensorFlow "
                    f"by an older version: run 'python -m venv tfjs && tfjs/bin/pip install "
                    f"{package}', and pass --converter_python=tfjs/bin/python."
                )
            raise ImportError(
                f"The format {format} needs the package {package.replace('_', '-')}: "
                f"pip install 'estimator-train[{format}]'."
            )


def convert_graph(
    format: str,
    graph: PortableGraph,
    work_dir: str,
    target_dir: str,
    converter_python: str | None = None,
) -> str:
    """Converts a graph in a process of its own.

    Args:
      format: A key of TARGETS.
      graph: The graph.
      work_dir: Directory for intermediate files.
      target_dir: Directory of the model's file.
      converter_python: Interpreter of an environment that has the converter; None for this one.

    Returns:
      The path of the model's file.

    Raises:
      ConversionError: The converter failed.
    """
    frozen = graph.write(work_dir)
    target = os.path.join(target_dir, TARGETS[format].file)
    trees = []
    for number, tree in enumerate(graph.trees):
        path = os.path.join(work_dir, f"trees_{number}.npz")
        np.savez(path, **tree.nodes._asdict())
        trees.append({"inputs": tree.inputs, "logits": tree.logits, "nodes": path})
    _run_tool(
        {
            "action": "convert",
            "format": format,
            "frozen": frozen,
            "saved_model": os.path.join(work_dir, "saved_model"),
            "inputs": graph.inputs,
            "outputs": graph.outputs,
            "trees": trees,
            "opset": _OPSET,
            "target": target,
        },
        work_dir,
        converter_python,
    )
    return target


def run_model(
    format: str, path: str, values: Mapping[str, Any], outputs: list[str], work_dir: str
) -> dict[str, np.ndarray]:
    """Returns the outputs that the runtime of a format computes, in a process without TensorFlow.

    Args:
      format: A key of TARGETS.
      path: The model's file.
      values: Input name to array.
      outputs: Names of the outputs.
      work_dir: Directory for intermediate files.

    Raises:
      ConversionError: The runtime failed.
    """
    given, results = os.path.join(work_dir, "inputs.npz"), os.path.join(work_dir, "results.npz")
    np.savez(given, **values)
    _run_tool(
        {
            "action": "run",
            "format": format,
            "target": path,
            "values": given,
            "outputs": outputs,
            "results": results,
        },
        work_dir,
    )
    with np.load(results) as found:
        return {name: found[str(place)] for place, name in enumerate(outputs)}


def _run_tool(job: dict[str, Any], work_dir: str, python: str | None = None) -> None:
    path = os.path.join(work_dir, f"{job['action']}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    # The converters name Keras 2 in their sources; the models have no Keras any more.
    done = subprocess.run(
        [python or sys.executable, _TOOLS, path],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        check=False,
    )
    if done.returncode:
        reason = _find_reason(done.stderr) or f"exit code {done.returncode}"
        target = TARGETS[job["format"]]
        package = target.converter if job["action"] == "convert" else target.runtime
        raise ConversionError(
            f"{package} could not {job['action']} the model: {reason}"[:_MAX_ERROR]
        )


def _find_reason(stderr: str) -> str:
    """Returns the error of a traceback as one line, or the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [n for n, line in enumerate(lines) if re.match(r"[\w.]+(Error|Exception): ", line)]
    # Errors of C++ begin with a line that names only its source file.
    return " ".join(lines[errors[-1] :] if errors else lines[-1:])


def write_encoder(directory: str, description: Mapping[str, Any]) -> None:
    """Writes `encoder.json` and `encoder.py`.

    Args:
      directory: An existing directory.
      description: The description of the columns.
    """
    with open(os.path.join(directory, "encoder.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=1)
    _, _, hashes = inspect.getsource(fingerprints).partition("import numpy as np\n\n")
    with open(os.path.join(directory, "encoder.py"), "w", encoding="utf-8") as file:
        file.write(_IMPORT.sub(lambda _: hashes, inspect.getsource(encoder), count=1))


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
