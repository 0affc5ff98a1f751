"""Conversions by the real converters, computed by the real runtimes without TensorFlow.

These tests cover `portable/tools.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import portable_models
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.export.portable import conversion

INPUT_FN = portable_models.make_input_fn(1000, 250)


@pytest.mark.long
@pytest.mark.parametrize("to", [to for to, target in conversion.TARGETS.items() if target.runtime])
def test_numeric_classifier(tmp_path: Path, to: str) -> None:
    estimator = portable_models.make_numeric(tmp_path / "model")
    chosen = ["class_ids", "probabilities", "logits"]
    result = est.export.convert(estimator, tmp_path / "out", INPUT_FN, to=to, outputs=chosen)
    assert set(result.differences) == set(chosen)
    description = json.loads((tmp_path / "out" / "encoder.json").read_text())
    assert [entry["name"] for entry in description["inputs"]] == ["age", "hours"]
    assert description["outputs"] == sorted(chosen, key=description["outputs"].index)


@pytest.mark.long
def test_bad_arguments_leave_no_file(tmp_path: Path) -> None:
    estimator = portable_models.make_numeric(tmp_path / "model")
    output = tmp_path / "out"
    with pytest.raises(ValueError, match="to='pmml' is not a format; choose one of \\['onnx', "):
        est.export.convert(estimator, output, INPUT_FN, to="pmml")
    with pytest.raises(ValueError, match="rows=0: the conversion is proved with at least one row"):
        est.export.convert(estimator, output, INPUT_FN, to="tflite", rows=0)
    with pytest.raises(ValueError, match="outputs='logits' is a string; pass a list of names: "):
        est.export.convert(estimator, output, INPUT_FN, to="tflite", outputs="logits")
    with pytest.raises(TypeError, match="estimator='run' must be an Estimator, constructed as"):
        est.export.convert("run", output, INPUT_FN, to="tflite")
    with pytest.raises(TypeError, match="input_fn=None must be a function, as for `predict`"):
        est.export.convert(estimator, output, None, to="tflite")
    for tolerance in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="tolerance=.* must be a number of at least 0"):
            est.export.convert(estimator, output, INPUT_FN, to="tflite", tolerance=tolerance)
    untrained = est.DNNClassifier([2], [portable_models.fc.numeric_column("age")])
    with pytest.raises(ValueError, match="has no checkpoint: train the model first"):
        est.export.convert(untrained, output, INPUT_FN, to="tflite")
    with pytest.raises(ValueError, match="signature 'x' does not exist"):
        est.export.convert(estimator, output, INPUT_FN, to="tflite", signature="x")
    assert os.listdir(tmp_path) == ["model"]
    output.mkdir()
    with pytest.raises(FileExistsError, match="out exists. Use a new directory"):
        est.export.convert(estimator, output, INPUT_FN, to="tflite")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = conversion.Target("model.x", "absent_converter", "absent_runtime")
    monkeypatch.setitem(conversion.TARGETS, "x", absent)
    with pytest.raises(ImportError, match="absent-converter: pip install 'estimator-train\\[x\\]'"):
        conversion.check_packages("x")


def test_wrong_answers_fail() -> None:
    wanted = {"p": np.array([0.5, 200.0]), "ids": np.array([1, 2])}
    close = {"p": np.array([0.5, 200.001]), "ids": np.array([1, 2])}
    assert conversion.compare_outputs(wanted, close, 1e-5)["p"] == pytest.approx(5e-6)
    with pytest.raises(
        conversion.ConversionError, match="'p' of the converted model is wrong: 5e-06"
    ):
        conversion.compare_outputs(wanted, close, 1e-6)
    with pytest.raises(conversion.ConversionError, match="'ids' .* wrong: 1 rows differ, and 0 is"):
        conversion.compare_outputs(wanted, {**close, "ids": np.array([1, 0])}, 1.0)
    with pytest.raises(conversion.ConversionError, match="'p' .* wrong: nan is the largest"):
        conversion.compare_outputs(wanted, {**close, "p": np.full(2, np.nan)}, 1.0)
    with pytest.raises(conversion.ConversionError, match="'ids' has the shape \\(1,\\) instead of"):
        conversion.compare_outputs(wanted, {**close, "ids": np.array([1])}, 1.0)


def test_nan_and_infinity_must_be_where_tensorflow_has_them() -> None:
    wanted = {"p": np.array([0.5, np.nan, np.inf, -np.inf])}
    assert conversion.compare_outputs(wanted, wanted, 0.0) == {"p": 0.0}
    for place, other in [(0, np.nan), (0, np.inf), (1, 0.5), (1, np.inf), (2, -np.inf), (2, 1.0)]:
        answer = wanted["p"].copy()
        answer[place] = other
        with pytest.raises(conversion.ConversionError, match="'p' of the converted model is wrong"):
            conversion.compare_outputs(wanted, {"p": answer}, 1.0)


def test_a_saved_model_returns_the_chosen_outputs(tmp_path: Path) -> None:
    estimator = portable_models.make_numeric(tmp_path / "model")
    specs = {"age": tf.TensorSpec([None], tf.float32), "hours": tf.TensorSpec([None, 2])}
    receiver_fn = est.export.build_raw_serving_input_receiver_fn(specs)
    chosen = ["class_ids", "probabilities"]
    path = estimator.export_saved_model(tmp_path / "saved", receiver_fn, outputs=chosen)
    signatures = tf.saved_model.load(path.decode()).signatures
    assert set(signatures) == {"serving_default"}
    rows, _ = portable_models.make_rows(20)
    found = signatures["serving_default"](
        **{name: tf.constant(rows[name], tf.float32) for name in specs}
    )
    assert set(found) == set(chosen)
    wanted = list(estimator.predict(portable_models.make_input_fn(20)))
    np.testing.assert_array_equal(found["class_ids"], [p["class_ids"] for p in wanted])
    with pytest.raises(ValueError, match="outputs=\\['y'\\]: the predictions .* are \\['all_class"):
        estimator.export_saved_model(tmp_path / "other", receiver_fn, outputs=["y"])
    assert not (tmp_path / "other").exists() or not os.listdir(tmp_path / "other")
    with pytest.raises(ValueError, match="\\['serving_default'\\]. signature_def_key chooses one"):
        est.predictor.from_saved_model(path, "predict")


@pytest.mark.long
@pytest.mark.parametrize("to", ["onnx", "tflite", "openvino"])
def test_outputs_that_are_inputs(tmp_path: Path, to: str) -> None:
    def model_fn(features: Any, mode: str) -> est.EstimatorSpec:
        hours, age = features["hours"], features["age"]
        predictions = {"hours": hours, "again": tf.identity(hours), "twice": 2 * age, "key": age}
        step = tf.compat.v1.train.get_global_step()
        loss = tf.reduce_sum(hours)
        train_op = tf.compat.v1.assign_add(step, 1)
        return est.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def input_fn() -> tf.data.Dataset:
        rows = {"hours": np.float32([1.5, -2.0, np.nan]), "age": np.array([30, 40, -5])}
        return tf.data.Dataset.from_tensor_slices(rows).batch(2)

    estimator = est.Estimator(model_fn, tmp_path / "model")
    estimator.train(input_fn, steps=1)
    found = est.export.convert(estimator, tmp_path / "out", input_fn, to=to)
    assert found.differences == {"hours": 0, "again": 0, "twice": 0, "key": 0}


@pytest.mark.long
def test_openvino_adds_up_several_buckets(tmp_path: Path) -> None:
    # The column of ids, not of numbers, is that of a linear model.
    column = portable_models.fc.bucketized_column(
        portable_models.fc.numeric_column("size", shape=3), [-0.5, 0.5]
    )
    estimator = est.LinearRegressor([column], tmp_path / "model")
    sizes = np.random.default_rng(1).normal(size=(40, 3)).astype(np.float32)

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(({"size": sizes}, sizes.sum(1))).batch(10)

    estimator.train(input_fn)
    found = est.export.convert(estimator, tmp_path / "out", input_fn, to="openvino")
    assert found.differences["predictions"] < 1e-5


@pytest.mark.long
def test_an_error_of_a_runtime_has_all_of_its_lines(tmp_path: Path) -> None:
    broken = tmp_path / "model.xml"
    broken.write_text("<net/>")
    with pytest.raises(
        conversion.ConversionError, match="openvino could not run .*Unable to read the model"
    ):
        conversion.run_model("openvino", str(broken), {}, ["y"], str(tmp_path))
