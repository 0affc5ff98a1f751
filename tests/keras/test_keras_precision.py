"""Keras models in 16 bits: by their policy, and by RunConfig(mixed_precision=...)."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est


def model(policy):
    def values(seed):
        return tf_keras.initializers.GlorotUniform(seed)

    layers = tf_keras.layers
    built = tf_keras.Sequential(
        [
            layers.Dense(16, "relu", input_shape=(8,), dtype=policy, kernel_initializer=values(1)),
            layers.Dense(1, dtype=policy, kernel_initializer=values(2)),
            layers.Activation("linear", dtype="float32"),
        ]
    )
    optimizer = tf_keras.optimizers.SGD(0.05)
    if policy == "mixed_float16":
        optimizer = tf_keras.mixed_precision.LossScaleOptimizer(optimizer)
    built.compile(optimizer, "mse")
    return built


def input_fn():
    rows = np.random.RandomState(0).rand(64, 8).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((rows, rows.sum(1, keepdims=True))).repeat().batch(16)


def loss_after_training(directory, policy="float32", precision=None):
    config = est.RunConfig(model_dir=str(directory), mixed_precision=precision)
    estimator = est.keras.model_to_estimator(model(policy), config=config)
    estimator.train(input_fn, steps=50)
    return estimator.evaluate(input_fn, steps=4)["loss"]


@pytest.mark.long
def test_16_bits_train_nearly_as_well_as_32(tmp_path):
    expected = loss_after_training(tmp_path / "32")
    for name, settings in {
        "float16": {"policy": "mixed_float16"},
        "bfloat16": {"policy": "mixed_bfloat16"},
        "cast": {"precision": "bfloat16"},
    }.items():
        loss = loss_after_training(tmp_path / name, **settings)
        assert loss == pytest.approx(expected, rel=0.2), name
        assert loss != expected


def test_a_keras_optimizer_that_does_not_scale_is_warned_of(tmp_path, caplog):
    loss_after_training(tmp_path, precision="float16")
    assert "wrap a Keras optimizer in a tf_keras.mixed_precision.LossScaleOptimizer" in caplog.text
