"""Keras 3 objects in programs of tf.estimator: accepted objects and error messages.

These tests cover `estimator_spec/export_outputs.py`.
"""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from processes import run_process
from tensorflow.python.util.lazy_loader import KerasLazyLoader

import estimator_train as est
from estimator_train.engine import keras_3_errors

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
Y = np.array([[2.0], [1.0]], np.float32)


def _input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors((X, Y))


def _model_fn(score: Callable[[tf.Tensor], tf.Tensor]) -> Callable[..., est.EstimatorSpec]:
    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        outputs = score(features)
        error = keras.metrics.MeanAbsoluteError()
        error.update_state(labels, outputs)
        loss = keras.losses.MeanSquaredError()(labels, outputs)
        step = tf.compat.v1.train.get_or_create_global_step()
        train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"mae": error})

    return model_fn


def _weighted(features: tf.Tensor) -> tf.Tensor:
    return tf.matmul(features, tf.compat.v1.get_variable("w", initializer=[[1.0], [1.0]]))


def test_losses_and_metrics_of_keras_3_work_in_a_model_fn(tmp_path: Path) -> None:
    estimator = est.Estimator(_model_fn(_weighted), tmp_path)
    estimator.train(_input, steps=2)
    weights = estimator.get_variable_value("w")
    result = estimator.evaluate(_input)
    assert estimator.get_variable_names() == ["global_step", "w"]
    assert result["mae"] == pytest.approx(np.abs(X @ weights - Y).mean(), rel=1e-6)
    assert result["loss"] == pytest.approx(np.square(X @ weights - Y).mean(), rel=1e-6)


def test_a_metric_of_keras_3_sums_over_batches() -> None:
    estimator = est.Estimator(_model_fn(_weighted))

    def rows() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(1)

    assert estimator.evaluate(rows)["mae"] == pytest.approx(1.0)


def test_a_metric_of_keras_3_that_was_not_updated_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"update_state\(...\)"):
        est.EstimatorSpec(
            "eval", loss=tf.constant(1.0), eval_metric_ops={"m": keras.metrics.Mean()}
        )


def test_layers_of_keras_3_train_and_a_warning_names_their_variables(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keras_3_errors, "_warned", False)
    estimator = est.Estimator(_model_fn(keras.layers.Dense(1, name="out")), tmp_path)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        estimator.train(_input, steps=1)
    warned = [line for line in caplog.messages if "was created by Keras 3" in line]
    assert len(warned) == 1
    assert "TF_USE_LEGACY_KERAS=1" in warned[0]
    assert {"out/kernel", "out/bias"} < set(estimator.get_variable_names())


def test_a_model_fn_may_import_a_graph_with_variables(tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default() as written:
        v1.get_variable("w", initializer=[[1.0], [2.0]])
        meta_graph = v1.train.export_meta_graph(graph=written)

    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        v1.train.import_meta_graph(meta_graph)
        [weights] = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES)
        loss = tf.reduce_mean((features @ weights - labels) ** 2)
        return est.EstimatorSpec(mode, loss=loss)

    expected = np.square(X @ [[1.0], [2.0]] - Y).mean()
    assert est.Estimator(model_fn).evaluate(_input)["loss"] == pytest.approx(expected)


def _lacking(features: tf.Tensor) -> tf.Tensor:
    return keras.losses.mean_no_such(features)


def _v1_layer(features: tf.Tensor) -> tf.Tensor:
    layers = KerasLazyLoader({}, submodule="__internal__.legacy.layers", mode="v1")
    return layers.dense(features, 1)


def _refused_by_keras(features: tf.Tensor) -> tf.Tensor:
    return keras.layers.Dense(-1)(features)


@pytest.mark.parametrize("score", [_lacking, _v1_layer, _refused_by_keras])
def test_errors_caused_by_keras_3_name_the_next_step(
    score: Callable[[tf.Tensor], tf.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)  # A lazy loader asks when it is used.
    with pytest.raises(keras_3_errors.Keras3Error, match="model_fn uses Keras 3") as caught:
        est.Estimator(_model_fn(score)).train(_input, steps=1)
    assert "TF_USE_LEGACY_KERAS=1" in str(caught.value)
    assert "estimator-train run" in str(caught.value)
    assert caught.value.__cause__ is not None


def test_errors_of_an_input_fn_caused_by_keras_3_name_the_next_step() -> None:
    def input_fn() -> Any:
        return keras.utils.no_such_function(X)

    with pytest.raises(keras_3_errors.Keras3Error, match="input_fn uses Keras 3"):
        est.Estimator(_model_fn(_weighted)).train(input_fn, steps=1)


def test_other_errors_of_a_model_fn_are_not_changed() -> None:
    def score(features: tf.Tensor) -> tf.Tensor:
        raise KeyError("its own")

    with pytest.raises(KeyError, match="its own"):
        est.Estimator(_model_fn(score)).train(_input, steps=1)


@pytest.mark.parametrize(
    ("before", "seen"),
    [
        ("", "1"),
        ("os.environ['TF_USE_LEGACY_KERAS'] = '0'", "0"),
        ("sys.modules['tensorflow'] = sys", None),  # As if TensorFlow had been imported before.
    ],
)
def test_importing_estimator_train_before_tensorflow_chooses_keras_2(
    before: str, seen: str | None
) -> None:
    program = f"""
import os, sys
os.environ.pop("TF_USE_LEGACY_KERAS", None)
{before}
import estimator_train
print(os.environ.get("TF_USE_LEGACY_KERAS"))
"""
    ran = run_process([sys.executable, "-c", program])
    assert ran.stdout.split() == [str(seen)], ran.stderr
