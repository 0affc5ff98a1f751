"""Adapters and callbacks on two replicas: the same numbers as fit on one device.

These tests cover `keras/model_fn.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from small_models import X, Y

import estimator_train as est
from estimator_train import hooks, keras

GLOBAL_BATCH, REPLICAS = 8, 2


def build() -> Any:
    tf_keras.utils.set_random_seed(1)
    layers = tf_keras.layers
    hidden = layers.Dense(3, "tanh", input_shape=(4,), kernel_regularizer="l2", name="hidden")
    return tf_keras.Sequential([hidden, layers.Dense(1, name="out")])


def adam() -> Any:
    return tf_keras.optimizers.Adam(0.1)


def data(batch_size: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(batch_size)


def trained(hook: Any = None, epochs: int = 3, **arguments: Any) -> Any:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    model_fn = keras.model_fn(build, "mse", adam(), ["mae"], **arguments)
    estimator = est.Estimator(model_fn, config=est.RunConfig(train_distribute=strategy))
    batches = GLOBAL_BATCH // REPLICAS
    return estimator.train(lambda: data(batches).repeat(epochs), hooks=[hook] if hook else [])


@pytest.mark.long
def test_callbacks_read_and_set_all_replicas(tmp_path: Any) -> None:
    def given(name: str) -> list[Any]:
        path = str(tmp_path / name)
        return [
            tf_keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)),
            tf_keras.callbacks.ModelCheckpoint(path),
        ]

    hook = hooks.KerasCallbacks(given("ours.keras"), 4, validation_data=data(GLOBAL_BATCH))
    estimator = trained(hook)
    model = build()
    model.compile(adam(), "mse", metrics=["mae"])
    batches = data(GLOBAL_BATCH)
    model.fit(
        batches, epochs=3, verbose=0, callbacks=given("theirs.keras"), validation_data=batches
    )
    for name, values in model.history.history.items():
        assert hook.history[name] == pytest.approx(values, rel=1e-5), name
    loaded = [tf_keras.models.load_model(tmp_path / f"{n}.keras") for n in ("ours", "theirs")]
    for ours, theirs in zip(
        loaded[0].optimizer.variables, loaded[1].optimizer.variables, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-7)
    again = keras.load_trained(build(), estimator)
    for ours, theirs in zip(again.weights, model.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.long
def test_gradients_are_accumulated_over_replicas_and_steps() -> None:
    estimator = trained(gradient_accumulation_steps=2)
    model = build()
    model.compile(adam(), "mse")
    model.fit(data(2 * GLOBAL_BATCH), epochs=3, verbose=0)
    found = keras.load_trained(build(), estimator)
    for ours, theirs in zip(found.weights, model.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_replicas_train_in_mixed_precision() -> None:
    estimator = trained(mixed_precision="mixed_bfloat16")
    assert tf_keras.mixed_precision.global_policy().name == "float32"
    model = build()
    model.compile(adam(), "mse")
    model.fit(data(GLOBAL_BATCH), epochs=3, verbose=0)
    found = keras.load_trained(build(), estimator)
    for ours, theirs in zip(found.weights, model.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.05, atol=0.02)
