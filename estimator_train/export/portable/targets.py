"""The formats of a conversion: their packages, files and runtimes."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from estimator_train.export.portable.portable_graph import PortableGraph

_TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools.py")
_OPSET = 18
_MAX_ERROR = 400


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
