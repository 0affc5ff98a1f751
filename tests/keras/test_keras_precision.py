"""Keras models in 16 bits: by their policy, and by RunConfig(mixed_precision=...)."""

import concurrent.futures
import os
import sys
import threading

import environments
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.keras.build_settings import use_policy


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


CAST = """
import test_keras_precision
print(test_keras_precision.loss_after_training({!r}, precision="bfloat16"))
"""


@pytest.mark.long
def test_16_bits_train_nearly_as_well_as_32(tmp_path):
    expected = loss_after_training(tmp_path / "32")
    losses = [
        loss_after_training(tmp_path / policy, policy)
        for policy in ("mixed_float16", "mixed_bfloat16")
    ]
    # A CPU casts to bfloat16 with oneDNN, which a process has from its start or not at all.
    done = environments.run_python(
        *(sys.executable, "-c", CAST.format(str(tmp_path / "cast"))),
        cwd=os.path.dirname(__file__),
        TF_ENABLE_ONEDNN_OPTS="1",
        PYTHONPATH=os.path.dirname(environments.__file__),
    )
    for loss in (*losses, float(done.stdout)):
        assert loss == pytest.approx(expected, rel=0.2)
        assert loss != pytest.approx(expected, rel=1e-6)


def test_a_keras_optimizer_without_loss_scaling_logs_a_warning(tmp_path, caplog):
    loss_after_training(tmp_path, precision="float16")
    assert "wrap a Keras optimizer in a tf_keras.mixed_precision.LossScaleOptimizer" in caplog.text


@pytest.mark.parametrize("leaves_first", [0, 1])
def test_the_policy_holds_until_the_last_replica_leaves(leaves_first):
    entered, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def build(number):
        with use_policy("mixed_bfloat16"):
            entered.wait(300)
            assert leave[number].wait(300)
            return tf_keras.layers.Dense(1).compute_dtype

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        built = [pool.submit(build, number) for number in range(2)]
        entered.wait(300)
        for number in (leaves_first, 1 - leaves_first):
            leave[number].set()
            assert built[number].result(300) == "bfloat16"
    assert tf_keras.mixed_precision.global_policy().name == "float32"


def test_a_thread_with_another_policy_waits():
    def build():
        with use_policy("mixed_float16"):
            return tf_keras.layers.Dense(1).compute_dtype

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with use_policy("mixed_bfloat16"):
            waiting = pool.submit(build)
            with use_policy("float64"):  # Nested in one thread.
                assert tf_keras.layers.Dense(1).compute_dtype == "float64"
            assert tf_keras.layers.Dense(1).compute_dtype == "bfloat16"
            assert not waiting.done()
        assert waiting.result(300) == "float16"
    assert tf_keras.mixed_precision.global_policy().name == "float32"
