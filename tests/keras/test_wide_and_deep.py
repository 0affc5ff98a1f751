"""WideDeepModel with two optimizers: each trains its part, and steps are counted once."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from estimator_train.keras import model_to_estimator

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
Y = np.array([[2.0], [1.0]], np.float32)


def test_each_optimizer_trains_its_part(tmp_path: Path) -> None:
    ones = {"kernel_initializer": "ones"}
    wide = tf_keras.experimental.LinearModel(name="wide", **ones)
    deep = tf_keras.Sequential([tf_keras.layers.Dense(1, name="out", **ones)], name="deep")
    model = tf_keras.experimental.WideDeepModel(wide, deep, name="both")
    legacy = tf_keras.optimizers.legacy
    model.compile([legacy.SGD(0.01), legacy.Adam(0.1)], "mse")
    estimator = model_to_estimator(model, model_dir=tmp_path, checkpoint_format="saver")

    def data() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(((X, X), Y)).repeat()

    estimator.train(data, steps=1)
    error = 2 * X.sum(axis=1, keepdims=True) - Y
    gradient = X.T @ (2 * error / len(X))
    values = estimator.get_variable_value
    assert values("both/wide/kernel") == pytest.approx(1 - 0.01 * gradient, rel=1e-5)
    # The first step of Adam has the length of its learning rate.
    assert values("both/deep/out/kernel") == pytest.approx(1 - 0.1 * np.sign(gradient), rel=1e-4)
    estimator.train(data, steps=24)
    assert values("global_step") == 25
