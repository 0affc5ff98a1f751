"""From checkpoints back to Keras models, and from fit on to Estimators.

These tests cover `optimizers/base.py`.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from small_models import BATCH, X, Y, batches

import estimator_train as est
from estimator_train import keras
from estimator_train.keras.matching import propose_names

layers, optimizers = tf_keras.layers, tf_keras.optimizers
GOLDEN = Path(__file__).parents[1] / "golden" / "checkpoints"


def build(optimizer: Any = None, names: bool = True) -> Any:
    tf_keras.utils.set_random_seed(1)
    named = iter(["hidden", "norm", "middle", "out"] if names else [None] * 4)
    model = tf_keras.Sequential(
        [
            layers.Dense(4, activation="tanh", input_shape=(4,), name=next(named)),
            layers.BatchNormalization(name=next(named)),
            layers.Dense(4, activation="tanh", name=next(named)),
            layers.Dense(1, name=next(named)),
        ]
    )
    model.compile(optimizer or optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def data(epochs: int = 1) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH).repeat(epochs)


def predicted(estimator: Any) -> np.ndarray:
    return np.stack([next(iter(p.values())) for p in estimator.predict(batches(X, None))])


def adapter(optimizer: Any) -> Any:
    return est.Estimator(keras.model_fn(build, "mse", optimizer, ["mae"]), params={})


ESTIMATORS = {
    "checkpoint": lambda: keras.model_to_estimator(build()),
    "saver": lambda: keras.model_to_estimator(build(), checkpoint_format="saver"),
    "adapter": lambda: adapter(optimizers.Adam(0.01)),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", list(ESTIMATORS))
def test_a_round_trip_is_exact_and_fit_continues_the_training(kind: str, tmp_path: Path) -> None:
    estimator = ESTIMATORS[kind]()
    estimator.train(batches(repeat=2))
    model = keras.load_trained(build(), estimator)
    assert model.optimizer.iterations == 8
    model.save(tmp_path / "model.keras")
    again = keras.estimator_from_fit(tf_keras.models.load_model(tmp_path / "model.keras"))
    np.testing.assert_array_equal(predicted(again), predicted(estimator))
    assert again.evaluate(batches())["loss"] == estimator.evaluate(batches())["loss"]
    model.fit(data(), verbose=0)
    again.train(batches())
    estimator.train(batches())
    for other in (again, estimator):
        np.testing.assert_allclose(model.predict(X, verbose=0), predicted(other), rtol=1e-5)
        assert other.evaluate(batches())["global_step"] == 12


LONG = pytest.mark.long


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [
        lambda: optimizers.AdamW(0.01, weight_decay=0.1),
        pytest.param(lambda: optimizers.SGD(0.05, momentum=0.9), marks=LONG),
        pytest.param(lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True), marks=LONG),
        pytest.param(lambda: optimizers.Ftrl(0.1), marks=LONG),
    ],
    ids=["AdamW", "SGD", "RMSprop", "Ftrl"],
)
def test_an_estimator_continues_a_training_of_fit(make: Any) -> None:
    model = build(make())
    model.fit(data(), verbose=0)
    model.optimizer.learning_rate = 0.02
    estimator = keras.estimator_from_fit(model)
    assert estimator.evaluate(batches())["global_step"] == 4
    estimator.train(batches())
    model.fit(data(), verbose=0)
    np.testing.assert_allclose(predicted(estimator), model.predict(X, verbose=0), rtol=1e-5)


@pytest.mark.long
def test_a_subclassed_model_continues_a_training_of_fit() -> None:
    class Branches(tf_keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.last = layers.Dense(3), layers.Dense(1)

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return self.last(self.hidden(inputs))

    model = Branches()
    model.compile("adam", "mse")
    model.fit(data(), verbose=0)
    estimator = keras.estimator_from_fit(model)
    estimator.train(batches())
    model.fit(data(), verbose=0)
    np.testing.assert_allclose(predicted(estimator), model.predict(X, verbose=0), rtol=1e-5)
    other = Branches()
    other(X)
    keras.load_trained(other, estimator)
    np.testing.assert_allclose(other.predict(X, verbose=0), predicted(estimator), rtol=1e-6)


def hand_written(features: Any, labels: Any, mode: str) -> Any:
    """Returns the model of `build` as one writes it by hand, with other names."""
    v1 = tf.compat.v1

    def dense(name: str, inputs: Any, units: int) -> Any:
        with v1.variable_scope(name):
            weights = v1.get_variable("weights", [inputs.shape[-1], units])
            return inputs @ weights + v1.get_variable("biases", [units])

    hidden = tf.tanh(dense("layer1", features, 4))
    with v1.variable_scope("bn"):
        scale = v1.get_variable("gamma", [4], initializer=v1.ones_initializer())
        shift = v1.get_variable("beta", [4], initializer=v1.zeros_initializer())
        mean = v1.get_variable("moving_mean", [4], trainable=False)
        variance = v1.get_variable(
            "moving_variance", [4], trainable=False, initializer=v1.ones_initializer()
        )
    hidden = tf.nn.batch_normalization(hidden, mean, variance, shift, scale, 1e-3)
    hidden = tf.tanh(dense("layer2", hidden, 4))
    outputs = dense("layer3", hidden, 1)
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"y": outputs})
    loss = tf.reduce_mean((outputs - labels) ** 2)
    optimizer = v1.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True)
    step = optimizer.minimize(loss, v1.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=step)


def test_variables_of_a_users_model_fn_are_matched_by_shape_and_number() -> None:
    estimator = est.Estimator(hand_written)
    estimator.train(batches(repeat=2))
    names = keras.propose_name_map(build(), estimator)
    assert names["hidden/kernel"] == "layer1/weights"
    assert names["middle/bias"] == "layer2/biases"
    assert names["norm/moving_mean"] == "bn/moving_mean"
    optimizer = optimizers.RMSprop(0.01, momentum=0.5, centered=True)
    model = keras.load_trained(build(optimizer), estimator.model_dir)
    np.testing.assert_allclose(model.predict(X, verbose=0), predicted(estimator), rtol=1e-4)
    slots = {v.name: v.numpy() for v in optimizer.variables}
    for ours, theirs in {
        "velocity": "RMSProp",
        "average_gradient": "RMSProp_1",
        "momentum": "RMSProp_2",
    }.items():
        np.testing.assert_array_equal(
            slots[f"{ours}/hidden/kernel:0"],
            estimator.get_variable_value(f"layer1/weights/{theirs}"),
        )


def test_layers_with_other_numbers_are_matched() -> None:
    estimator = keras.model_to_estimator(build(names=False), checkpoint_format="saver")
    estimator.train(batches())
    model = keras.load_trained(build(names=False), estimator)
    np.testing.assert_allclose(model.predict(X, verbose=0), predicted(estimator), rtol=1e-6)


def test_a_checkpoint_that_does_not_fit_is_shown_in_a_table() -> None:
    estimator = keras.model_to_estimator(build(), checkpoint_format="saver")
    estimator.train(batches(), steps=1)
    other = tf_keras.Sequential(
        [layers.Dense(7, input_shape=(4,), name="hidden"), layers.Dense(3, name="last")]
    )
    before = other.get_weights()
    with pytest.raises(ValueError, match="does not fit the Keras model") as error:
        keras.load_trained(other, estimator)
    lines = [line.split()[:2] for line in str(error.value).splitlines()[1:-1]]
    assert ["missing", "last/kernel"] in lines
    assert ["unexpected", "norm/gamma"] in lines
    assert ["misshaped", "hidden/kernel"] in lines
    for weight, known in zip(other.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, known)


def test_a_mapping_of_names_is_used(caplog: pytest.LogCaptureFixture) -> None:
    estimator = keras.model_to_estimator(build(), checkpoint_format="saver")
    estimator.train(batches(), steps=1)
    inputs = tf_keras.Input([4])
    head = tf_keras.Model(inputs, layers.Dense(4, name="first")(inputs))
    given = {"first/kernel": "middle/kernel", "first/bias": "middle/bias"}
    with caplog.at_level(logging.WARNING):
        keras.load_trained(head, estimator, given)
    assert "has variables that the model lacks" in caplog.text
    value = estimator.get_variable_value("middle/kernel")
    np.testing.assert_array_equal(head.get_weights()[0], value)
    with pytest.raises(ValueError, match=r"names \['nope'\], which .* does not have"):
        keras.load_trained(head, estimator, {"first/kernel": "nope"})


def test_objects_that_are_no_checkpoint_or_model_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="There is no checkpoint in"):
        keras.load_trained(build(), tmp_path)
    with pytest.raises(TypeError, match="must be a tf_keras Model"):
        keras.load_trained("model", GOLDEN / "keras_saver")
    with pytest.raises(ValueError, match="has no variables yet"):
        keras.load_trained(tf_keras.Sequential([layers.Dense(1)]), GOLDEN / "keras_saver")


@pytest.mark.long
def test_make_or_restore_uses_the_latest_backup(tmp_path: Path) -> None:
    assert keras.make_or_restore(build, tmp_path / "none").optimizer.iterations == 0
    model = build()
    model.fit(data(), verbose=0)
    for epoch in (9, 11, 10):  # Of one moment the highest is the last.
        other = build() if epoch < 11 else model
        other.save(tmp_path / f"{epoch}.keras")
        os.utime(tmp_path / f"{epoch}.keras", (1e9, 1e9))
    found = keras.make_or_restore(build, tmp_path)
    assert found.optimizer.iterations == 4
    np.testing.assert_array_equal(found.get_weights()[0], model.get_weights()[0])
    estimator = keras.estimator_from_fit(model, tmp_path / "run")
    estimator.train(batches(), steps=1)
    found = keras.make_or_restore(build, tmp_path / "run")
    assert found.optimizer.iterations == 5
    np.testing.assert_array_equal(
        found.get_weights()[0], estimator.get_variable_value("hidden/kernel")
    )


def test_a_variable_with_two_equally_good_matches_is_left_out() -> None:
    saved = {"hidden_b/kernel": (2, 2), "hidden_c/kernel": (2, 2)}
    assert propose_names({"hidden_a/kernel": (2, 2)}, saved, {}) == {}
    better = {**saved, "hidden_aa/kernel": (2, 2)}
    found = propose_names({"hidden_a/kernel": (2, 2)}, better, {})
    assert found == {"hidden_a/kernel": "hidden_aa/kernel"}
