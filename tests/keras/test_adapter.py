"""keras.model_fn: a model_fn from a function that builds a model trains as fit does.

These tests cover `hooks/backup.py`.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from small_models import BATCH, X, Y, batches, evaluated, evaluated_eagerly

import estimator_train as est
from estimator_train import hooks, keras

layers, optimizers = tf_keras.layers, tf_keras.optimizers
STEPS = 8


def build(dropout: float = 0.0) -> Any:
    tf_keras.utils.set_random_seed(1)
    return tf_keras.Sequential(
        [
            layers.Dense(3, activation="tanh", input_shape=(4,), kernel_regularizer="l2", name="a"),
            layers.BatchNormalization(name="norm"),
            layers.Dropout(dropout),
            layers.Dense(1, name="out"),
        ]
    )


def fitted(model: Any, optimizer: Any, epochs: int = 2, **arguments: Any) -> Any:
    model.compile(optimizer, "mse", metrics=["mae"], **arguments)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)
    model.fit(data, epochs=epochs, verbose=0)
    return model


def trained(builder: Any, optimizer: Any, steps: int = STEPS, **arguments: Any) -> Any:
    model_fn = keras.model_fn(builder, "mse", optimizer, ["mae"], **arguments)
    estimator = est.Estimator(model_fn, params={"rate": 0.05})
    return estimator.train(batches(repeat=None), steps=steps)


def assert_same_weights(estimator: Any, model: Any, rtol: float = 1e-5) -> None:
    for variable in model.weights:
        value = estimator.get_variable_value(variable.name.partition(":")[0])
        np.testing.assert_allclose(value, variable.numpy(), rtol=rtol, atol=1e-7)


KINDS = {
    "SGD": lambda: optimizers.SGD(0.05),
    "momentum": lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "Adam": lambda: optimizers.Adam(0.01),
    "RMSprop": lambda: optimizers.RMSprop(0.01),
    "Adagrad": lambda: optimizers.Adagrad(0.1),
    "Ftrl": lambda: optimizers.Ftrl(0.1),
    "AdamW, clipped": lambda: optimizers.AdamW(0.01, weight_decay=0.1, global_clipnorm=0.5),
    "of legacy": lambda: optimizers.legacy.Adam(0.01, clipnorm=0.5),
}


@pytest.mark.parametrize("kind", tiers.first({"Adam"}, KINDS))
def test_trains_and_evaluates_as_fit_does(kind: str) -> None:
    model = fitted(build(), KINDS[kind]())
    estimator = trained(build, KINDS[kind]())
    assert_same_weights(estimator, model)
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(model), rel=1e-5)
    rows = [row["out"] for row in estimator.predict(batches(X, None))]
    np.testing.assert_allclose(rows, model.predict(X, verbose=0), rtol=1e-5, atol=1e-7)


def test_without_params_no_warning_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        est.Estimator(keras.model_fn(build, "mse"))
    assert "temporary folder" in caplog.text
    assert "params" not in caplog.text


@pytest.mark.long
def test_params_reach_the_builder_and_the_optimizer() -> None:
    seen = []

    def builder(params: dict[str, Any], mode: str) -> Any:
        seen.append((params["rate"], mode))
        return build()

    estimator = trained(builder, lambda params: optimizers.SGD(params["rate"]))
    assert seen == [(0.05, est.ModeKeys.TRAIN)]
    assert_same_weights(estimator, fitted(build(), optimizers.SGD(0.05)))


@pytest.mark.long
def test_several_optimizers_train_each_their_variables() -> None:
    several = {"a/": optimizers.SGD(0.05, momentum=0.9), ".*": "adam"}
    estimator = trained(build, several, steps=3)
    model, pair = build(), (optimizers.SGD(0.05, momentum=0.9), optimizers.Adam())
    for step in range(3):
        rows = slice(step * BATCH, step * BATCH + BATCH)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(X[rows], training=True) - Y[rows]) ** 2)
            loss += sum(model.losses)
        first, others = model.trainable_weights[:2], model.trainable_weights[2:]
        gradients = tape.gradient(loss, [*first, *others])
        pair[0].apply_gradients(zip(gradients[:2], first, strict=True))
        pair[1].apply_gradients(zip(gradients[2:], others, strict=True))
    assert_same_weights(estimator, model)
    assert estimator.evaluate(batches())["global_step"] == 3
    with pytest.raises(ValueError, match="'norm/gamma:0' matches none of the optimizers' patterns"):
        trained(build, {"a/": "sgd"})


def test_random_weights_of_a_builder_follow_the_seed_of_the_run_config() -> None:
    def build() -> Any:
        kernel = tf_keras.initializers.Constant(tf.random.normal([4, 1]).numpy())
        return tf_keras.Sequential([layers.Dense(1, kernel_initializer=kernel, input_shape=(4,))])

    model_fn = keras.model_fn(build, "mse", optimizers.SGD(0.0))
    estimator = est.Estimator(model_fn, config=est.RunConfig(tf_random_seed=7))
    estimator.train(batches(repeat=None), steps=1)
    tf.random.set_seed(7)
    expected = build().weights[0].numpy()
    np.testing.assert_array_equal(estimator.get_variable_value("dense/kernel"), expected)


@pytest.mark.long
def test_accumulated_gradients_equal_those_of_the_complete_batch() -> None:
    def plain() -> Any:  # Without batch norm, whose statistics are those of each part.
        tf_keras.utils.set_random_seed(1)
        return tf_keras.Sequential([layers.Dense(3, "tanh", input_shape=(4,)), layers.Dense(1)])

    model = plain()
    model.compile(optimizers.Adam(0.01), "mse")
    model.fit(X, Y, batch_size=2 * BATCH, epochs=2, shuffle=False, verbose=0)
    estimator = trained(plain, optimizers.Adam(0.01), gradient_accumulation_steps=2)
    rows = [row["dense_1"] for row in _predictions(estimator, "dense_1")]
    np.testing.assert_allclose(rows, model.predict(X, verbose=0), rtol=1e-5, atol=1e-6)
    assert estimator.evaluate(batches())["global_step"] == STEPS
    iterations = [n for n in estimator.get_variable_names() if n.endswith("/iteration")]
    assert estimator.get_variable_value(iterations[0]) == STEPS / 2


def _predictions(estimator: Any, name: str) -> list[Any]:
    return [{name: next(iter(row.values()))} for row in estimator.predict(batches(X, None))]


@pytest.mark.long
@pytest.mark.parametrize(
    "policy", tiers.first({"mixed_float16"}, ["mixed_bfloat16", "mixed_float16"])
)
def test_mixed_precision_equals_that_of_fit(policy: str) -> None:
    tf_keras.mixed_precision.set_global_policy(policy)
    try:
        model = fitted(build(), optimizers.SGD(0.05))
    finally:
        tf_keras.mixed_precision.set_global_policy("float32")
    estimator = trained(build, optimizers.SGD(0.05), mixed_precision=policy)
    assert tf_keras.mixed_precision.global_policy().name == "float32"
    assert_same_weights(estimator, model, rtol=2e-2)
    if policy == "mixed_bfloat16":  # With float16 the first steps find the scale of the loss.
        full = fitted(build(), optimizers.SGD(0.05))
        assert evaluated(estimator) == pytest.approx(evaluated_eagerly(full), rel=0.05)


class Branches(tf_keras.Model):
    """Subclassed, without a config; adds a loss and a metric and counts its calls."""

    def __init__(self, table: Any) -> None:
        super().__init__()
        self.hidden, self.last = layers.Dense(3, "tanh"), layers.Dense(1)
        self.table = table
        self.calls = self.add_weight("calls", initializer="zeros", trainable=False)

    def call(self, inputs: Any, training: Any = None) -> Any:
        hidden = self.hidden(inputs * self.table)
        if training:
            self.calls.assign_add(1.0)
        self.add_loss(0.01 * tf.reduce_sum(hidden**2))
        self.add_metric(tf.reduce_mean(hidden), name="hidden_mean", aggregation="mean")
        return self.last(hidden)


def branches() -> Any:
    tf_keras.utils.set_random_seed(1)
    model = Branches(np.float32([1, 2, 3, 4]))
    model(X[:1])
    return model


@pytest.mark.long
def test_a_subclassed_model_without_config_keeps_losses_metrics_and_state() -> None:
    model = fitted(branches(), optimizers.SGD(0.01))
    estimator = trained(branches, optimizers.SGD(0.01))
    expected = evaluated_eagerly(model)
    assert set(expected) == {"loss", "mae", "hidden_mean"}
    assert evaluated(estimator) == pytest.approx(expected, rel=1e-5)
    calls = [name for name in estimator.get_variable_names() if name.endswith("calls")]
    assert estimator.get_variable_value(calls[0]) == STEPS


@pytest.mark.long
def test_dropout_of_all_kinds_trains() -> None:
    def builder() -> Any:
        inputs = tf_keras.Input([4])
        dropped = layers.Dropout(0.5, rng_type="stateful")(layers.Dense(64)(inputs))
        return tf_keras.Model(inputs, layers.Dense(1)(layers.Dropout(0.5, seed=3)(dropped)))

    losses = []
    for _ in range(2):
        estimator = trained(builder, optimizers.SGD(1e-3), steps=2)
        losses.append(evaluated(estimator)["loss"])
    assert np.isfinite(losses).all()


def _from_build_fn(model_dir: str, config: est.RunConfig) -> Any:
    return est.Estimator(keras.model_fn(build, "mse", optimizers.Adam(0.01)), model_dir, config)


def _from_model(model_dir: str, config: est.RunConfig) -> Any:
    """Returns an Estimator with object-based checkpoints, whose graph has no other Saver."""
    model = build()
    model.compile(optimizers.legacy.Adam(0.01), "mse")
    model.set_weights([np.full_like(weights, 0.1) for weights in model.get_weights()])
    return keras.model_to_estimator(model, model_dir=model_dir, config=config)


@pytest.mark.long
@pytest.mark.parametrize("create", tiers.first({_from_model}, [_from_build_fn, _from_model]))
def test_training_continues_from_a_backup_and_removes_it(create: Any, tmp_path: Path) -> None:
    def training(model_dir: str) -> Any:
        return create(model_dir, est.RunConfig(save_checkpoints_steps=1000))

    class Crash(tf.compat.v1.train.SessionRunHook):
        steps = 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.steps += 1
            if self.steps == 7:
                raise RuntimeError("out of power")

    backup = hooks.BackupAndRestore(tmp_path / "backup", "epoch", steps_per_epoch=4)
    stopped = training(str(tmp_path / "stopped"))
    with pytest.raises(RuntimeError, match="out of power"):
        stopped.train(batches(repeat=None), max_steps=12, hooks=[backup, Crash()])
    assert stopped.latest_checkpoint().endswith("-0")
    stopped.train(batches(repeat=None), max_steps=12, hooks=[backup])
    straight = training(str(tmp_path / "straight")).train(batches(repeat=None), max_steps=12)
    for name in straight.get_variable_names():
        if np.issubdtype(np.asarray(straight.get_variable_value(name)).dtype, np.number):
            np.testing.assert_allclose(
                stopped.get_variable_value(name), straight.get_variable_value(name), rtol=1e-6
            )
    assert not list((tmp_path / "backup").iterdir())


def test_backups_need_a_directory_and_a_frequency(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs steps_per_epoch"):
        hooks.BackupAndRestore(tmp_path)
    with pytest.raises(ValueError, match="positive number, got 0"):
        hooks.BackupAndRestore(tmp_path, 0)
    with pytest.raises(ValueError, match="backup_dir"):
        hooks.BackupAndRestore("", 1)


class OwnStep(tf_keras.Sequential):
    def train_step(self, data: Any) -> Any:
        return {}


def test_models_that_cannot_be_built_are_rejected() -> None:
    with pytest.raises(ValueError, match="OwnStep has its own train_step"):
        trained(lambda: OwnStep([layers.Dense(1)]), "sgd")
    with pytest.raises(TypeError, match="model_builder must be a function"):
        keras.model_fn(build())
    with pytest.raises(ValueError, match=r"needs the arguments \['width'\]"):
        keras.model_fn(lambda width: None)
    with pytest.raises(ValueError, match="must be 1 or more, got 0"):
        keras.model_fn(build, gradient_accumulation_steps=0)
    with pytest.raises(ValueError, match="cannot do. Use the one of tf_keras"):
        trained(build, optimizers.legacy.SGD(), gradient_accumulation_steps=2)
    with pytest.raises(ValueError, match="compares variables by ==.*Use .*legacy.Nadam"):
        trained(build, optimizers.Nadam())
    with pytest.raises(ValueError, match="scales the loss"):
        trained(build, {".*": "sgd"}, mixed_precision="mixed_float16")


def test_no_layer_is_left_unusable(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        trained(lambda: build(0.5), "sgd", steps=1)
    assert build()(X).shape == (32, 1)
    assert not caplog.records


@pytest.mark.long
def test_stateful_metrics_equal_those_of_evaluate():
    positive = np.greater(Y, np.median(Y)).astype(np.float32)

    def data() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices((X, positive)).batch(5)

    def metrics() -> list[Any]:
        return [tf_keras.metrics.AUC(name="auc"), tf_keras.metrics.Recall(0.4, name="recall")]

    def sigmoid() -> Any:
        return tf_keras.Sequential([*build().layers, layers.Activation("sigmoid")])

    model_fn = keras.model_fn(sigmoid, "binary_crossentropy", optimizers.SGD(0.1), metrics())
    estimator = est.Estimator(model_fn).train(lambda: data().repeat(), steps=5)
    found = estimator.evaluate(data)
    model = keras.load_trained(sigmoid(), estimator)
    model.compile(loss="binary_crossentropy", metrics=metrics())
    _, auc, recall = model.evaluate(data(), verbose=0)
    assert 0 < auc < 1
    assert 0 < recall < 1
    assert (found["auc"], found["recall"]) == pytest.approx((auc, recall), rel=1e-6)
