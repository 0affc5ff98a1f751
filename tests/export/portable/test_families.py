"""Conversions of kinds of models; docs/exports.md has their table.

Each converted model computes 1,000 rows in an environment that has its runtime and NumPy alone.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import environments
import numpy as np
import portable_models
import pytest
import tensorflow as tf
from tiers import of_commit

import estimator_train as est
from estimator_train.export.portable.conversion import ConversionError

# Computes the exported model from the features.
PROGRAM = """
import importlib.util
import json
import sys

import numpy as np

assert not any(importlib.util.find_spec(n) for n in ("tensorflow", "estimator_train", "tf_keras"))
directory, rows, results = sys.argv[1:]
sys.path.insert(0, directory)
from encoder import Encoder

with np.load(rows, allow_pickle=True) as features:
    inputs = Encoder(directory + "/encoder.json").encode(features)
with open(directory + "/encoder.json") as file:
    names = json.load(file)["outputs"]
"""
RUNTIMES = {
    "onnx": """
import onnxruntime

session = onnxruntime.InferenceSession(directory + "/model.onnx")
found = dict(zip(names, session.run(names, inputs)))
""",
    "tflite": """
from ai_edge_litert.interpreter import Interpreter

runner = Interpreter(directory + "/model.tflite").get_signature_runner()
found = runner(**inputs)
""",
    "openvino": """
import openvino

precision = {"INFERENCE_PRECISION_HINT": "f32"}
model = openvino.Core().compile_model(directory + "/model.xml", "CPU", precision)
found = model(inputs)
""",
}
DISTRIBUTIONS = {"onnx": "onnxruntime", "tflite": "ai-edge-litert", "openvino": "openvino"}


def make_census(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    rows = portable_models.ROWS
    return portable_models.make_census(model_dir), portable_models.make_input_fn(rows, 250)


MODELS = {
    "census": make_census,
    "clicks": portable_models.make_clicks,
    "convnet": portable_models.make_convnet,
    "counts": portable_models.make_counts,
    "keras": portable_models.make_keras,
    "multi-head": portable_models.make_multi_head,
    "rnn": portable_models.make_rnn,
    "trees": portable_models.make_trees,
    "trees of 3 classes": functools.partial(portable_models.make_trees, classes=3),
    "trees of numbers": functools.partial(portable_models.make_trees, classes=None),
}
CASES = [(model, to) for model in MODELS for to in RUNTIMES]


@pytest.fixture(scope="module")
def find_python(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns a function that returns the Python of an environment with a runtime and NumPy."""
    found: dict[str, Path] = {}

    def find(to: str) -> Path:
        if to not in found:
            folder = tmp_path_factory.mktemp("without_tensorflow") / to
            found[to] = environments.create_with_distributions(folder, "numpy", DISTRIBUTIONS[to])
        return found[to]

    return find


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Returns a function that returns a trained estimator and its input_fn."""
    found: dict[str, Any] = {}

    def train_once(model: str) -> Any:
        if model not in found:
            found[model] = MODELS[model](tmp_path_factory.mktemp("model"))
        return found[model]

    return train_once


@pytest.mark.long
@pytest.mark.parametrize(("model", "to"), of_commit(3, CASES))
def test_answers_agree_without_tensorflow(
    model: str, to: str, train: Any, find_python: Any, tmp_path: Path
) -> None:
    estimator, input_fn = train(model)
    result = est.export.convert(estimator, tmp_path / "out", input_fn, to=to)
    assert result.rows == 100
    assert max(result.differences.values()) <= 1e-5
    batches = [features for features, _ in input_fn().as_numpy_iterator()]
    rows = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    np.savez(tmp_path / "rows.npz", **rows)
    program = f"{PROGRAM}{RUNTIMES[to]}\nnp.savez(results, *(found[name] for name in names))"
    arguments = ("out", "rows.npz", "results.npz")
    environments.run_python(find_python(to), "-c", program, *arguments, cwd=tmp_path)
    names = json.loads((tmp_path / "out" / "encoder.json").read_text())["outputs"]
    predicted = list(estimator.predict(input_fn))
    assert len(predicted) == portable_models.ROWS
    with np.load(tmp_path / "results.npz") as found:
        for place, name in enumerate(names):
            key = tuple(name.split("/")) if "/" in name else name
            wanted, given = np.array([p[key] for p in predicted]), found[f"arr_{place}"]
            if wanted.dtype.kind == "i":
                np.testing.assert_array_equal(given, wanted, err_msg=name)
            else:
                np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.long
def test_a_failed_converter_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    estimator, input_fn = portable_models.make_operation(tmp_path / "model", tf.math.digamma)
    with pytest.raises(ConversionError, match="tensorflow could not convert the model: .*Digamma"):
        est.export.convert(estimator, tmp_path / "out", input_fn, to="tflite")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
