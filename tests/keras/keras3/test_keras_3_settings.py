"""Settings of Keras 3 models: precision, compilation; and both kinds of Keras in one process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from keras_3_models import LossRecorder, X, dataset, fit_losses

import estimator_train as est

layers = keras.layers


def build(**arguments: object) -> keras.Model:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([layers.Input([4]), layers.Dense(3, "tanh"), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01, use_ema=True), "mse", **arguments)
    return model


def check_losses(model: keras.Model, tolerance: float) -> None:
    recorder = LossRecorder()
    estimator = est.keras.model_to_estimator(model)
    estimator.train(lambda: dataset("linear").repeat(), hooks=[recorder], steps=20)
    expected = fit_losses(model, dataset("linear"), 20)
    assert recorder.losses == pytest.approx(expected, rel=tolerance)


@pytest.mark.long
def test_weight_averages_equal_those_of_fit() -> None:
    check_losses(build(), 1e-5)


@pytest.mark.parametrize("wrap", [lambda inner: inner, keras.optimizers.LossScaleOptimizer])
def test_a_warning_names_averages_that_only_fit_puts_in_place(
    wrap: Callable[[keras.Optimizer], keras.Optimizer], caplog: pytest.LogCaptureFixture
) -> None:
    model = build()
    est.keras.model_to_estimator(model)
    assert "Adam(use_ema=True): an Estimator evaluates and exports the weights" in caplog.text
    caplog.clear()
    model.compile(wrap(keras.optimizers.SGD()), "mse")
    est.keras.model_to_estimator(model)
    assert "use_ema" not in caplog.text
    model.compile(wrap(keras.optimizers.SGD(use_ema=True)), "mse")
    est.keras.model_to_estimator(model)
    assert "SGD(use_ema=True)" in caplog.text


@pytest.mark.long
def test_compiled_steps_equal_those_of_fit() -> None:
    check_losses(build(jit_compile=True), 1e-4)


@pytest.mark.parametrize("argument", ["metrics", "weighted_metrics"])
def test_models_with_objects_as_metrics_predict_and_are_exported(argument: str) -> None:
    model = build(**{argument: [keras.metrics.RootMeanSquaredError(name="rmse")]})
    estimator = est.keras.model_to_estimator(model)
    estimator.train(lambda: dataset("linear"), steps=1)
    assert "rmse" in estimator.evaluate(lambda: dataset("linear"), steps=1)
    assert len([*estimator.predict(lambda: dataset("linear"))]) == len(X)

    def receiver_fn() -> est.export.TensorServingInputReceiver:
        rows = tf.compat.v1.placeholder(tf.float32, [None, 4])
        return est.export.TensorServingInputReceiver(rows, rows)

    estimator.export_saved_model(Path(estimator.model_dir, "exported"), receiver_fn)


@pytest.mark.parametrize(
    "policy", tiers.first({"mixed_float16"}, ["mixed_bfloat16", "mixed_float16"])
)
def test_mixed_precision_equals_that_of_keras(policy: str) -> None:
    before = keras.mixed_precision.dtype_policy()
    keras.mixed_precision.set_dtype_policy(policy)
    try:
        model = build()
    finally:
        keras.mixed_precision.set_dtype_policy(before)
    check_losses(model, 1e-3)


def test_model_fn_builds_in_its_precision_and_restores_the_policy(tmp_path: Path) -> None:
    dtypes = set()

    def build_layers() -> keras.Model:
        model = keras.Sequential([layers.Input([4]), layers.Dense(1)])
        dtypes.add(model.layers[0].compute_dtype)
        return model

    model_fn = est.keras.model_fn(build_layers, "mse", "sgd", mixed_precision="mixed_bfloat16")
    est.Estimator(model_fn, tmp_path).train(lambda: dataset("linear"), steps=1)
    assert dtypes == {"bfloat16"}
    assert keras.mixed_precision.dtype_policy().name == "float32"


@pytest.mark.long
def test_both_kinds_of_keras_train_in_one_process(tmp_path: Path) -> None:
    old = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
    old.compile("sgd", "mse")
    new = keras.Sequential([layers.Input([4]), layers.Dense(1)])
    new.compile("sgd", "mse")
    new.set_weights(old.get_weights())
    kernels = []
    for name, model in (("new", new), ("old", old), ("again", new)):
        estimator = est.keras.model_to_estimator(model, model_dir=tmp_path / name)
        estimator.train(lambda: dataset("linear").repeat(), steps=5)
        rows = estimator.predict(lambda: tf.data.Dataset.from_tensors(X))
        kernels.append([float(next(iter(row.values()))[0]) for row in rows])
    np.testing.assert_allclose(kernels[0], kernels[1], rtol=1e-5, atol=1e-5)
    assert kernels[0] == kernels[2]
