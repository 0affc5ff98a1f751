"""WideDeepModel with two optimizers: each trains its part, and steps are counted once.

These tests cover `optimizers/several_optimizers.py`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from estimator_train.keras import estimator_from_fit, load_trained, model_to_estimator

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
Y = np.array([[2.0], [1.0]], np.float32)
legacy = tf_keras.optimizers.legacy


def test_each_optimizer_trains_its_part(tmp_path: Path) -> None:
    ones = {"kernel_initializer": "ones"}
    wide = tf_keras.experimental.LinearModel(name="wide", **ones)
    deep = tf_keras.Sequential([tf_keras.layers.Dense(1, name="out", **ones)], name="deep")
    model = tf_keras.experimental.WideDeepModel(wide, deep, name="both")
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


@pytest.mark.long
@pytest.mark.parametrize(
    "optimizers",
    [
        lambda: [tf_keras.optimizers.Adam(0.01), tf_keras.optimizers.Adam(0.1)],
        lambda: [legacy.SGD(0.01, momentum=0.9), legacy.Adam(0.1)],
    ],
    ids=["new", "legacy"],
)
def test_two_optimizers_continue_a_training_of_fit(
    tmp_path: Path, optimizers: Callable[[], list[Any]]
) -> None:
    def data() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(((X, X), Y)).repeat(2)

    def build() -> tf_keras.Model:
        wide = tf_keras.experimental.LinearModel(name="wide")
        deep = tf_keras.Sequential([tf_keras.layers.Dense(1, name="out")], name="deep")
        model = tf_keras.experimental.WideDeepModel(wide, deep, name="both")
        model.compile(optimizers(), "mse")
        return model

    model = build()
    model.fit(data(), verbose=0)
    model.optimizer[0].learning_rate = 0.02
    estimator = estimator_from_fit(model, tmp_path)
    estimator.train(data)
    model.fit(data(), verbose=0)
    expected = model.predict(data(), verbose=0)
    predicted = [next(iter(row.values())) for row in estimator.predict(data)]
    np.testing.assert_allclose(predicted, expected, rtol=1e-5)
    assert estimator.get_variable_value("global_step") == 4
    # The way back: the state of both optimizers continues too.
    other = build()
    other.predict(data(), verbose=0)
    load_trained(other, estimator)
    assert [int(one.iterations) for one in other.optimizer] == [4, 4]
    for one in (model, other):
        one.fit(data(), verbose=0)
    expected = model.predict(data(), verbose=0)
    np.testing.assert_allclose(other.predict(data(), verbose=0), expected, rtol=1e-5)
