"""Optimizers in an Estimator act as in Keras's fit, or are refused.

These tests cover `optimizers/base.py`, `optimizers/graph_optimizers.py` and
`optimizers/graph_optimizers.py`.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from small_models import batches, dense, evaluated, evaluated_eagerly, fit

from estimator_train.keras import model_to_estimator

optimizers = tf_keras.optimizers
STEPS = 12


class Halving(optimizers.schedules.LearningRateSchedule):
    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        return 0.1 * 0.5 ** tf.cast(step, tf.float32)

    def get_config(self) -> dict[str, Any]:
        return {}


class Unnamed(optimizers.schedules.LearningRateSchedule):
    def __call__(self, step: tf.Tensor) -> float:
        return 0.1


class Doubled(optimizers.SGD):
    def update_step(self, gradient: tf.Tensor, variable: tf.Variable) -> None:
        super().update_step(2.0 * gradient, variable)


def _undecayed() -> Any:
    optimizer = optimizers.AdamW(0.1, weight_decay=0.1)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


SCALED = tf_keras.mixed_precision.LossScaleOptimizer
NEW_KINDS: dict[str, Callable[[], Any]] = {
    "AdamW": lambda: optimizers.AdamW(0.1, weight_decay=0.1),
    "Lion": lambda: optimizers.Lion(0.01),
    "Adafactor": lambda: optimizers.Adafactor(0.1),
    "weight decay": lambda: optimizers.SGD(0.1, weight_decay=0.1),
    "weight decay of some": _undecayed,
    "clipped": lambda: optimizers.AdamW(0.1, clipnorm=0.01),
    "scheduled": lambda: optimizers.AdamW(Halving()),
    "scaled": lambda: SCALED(optimizers.AdamW(0.1)),
    "a class of one's own": lambda: Doubled(0.05),
}


@pytest.mark.parametrize("name", tiers.every(12, NEW_KINDS))
def test_new_kinds_train_as_in_keras(name: str) -> None:
    expected = fit(dense(NEW_KINDS[name](), metrics=["mae"]), STEPS)
    estimator = model_to_estimator(dense(NEW_KINDS[name](), metrics=["mae"]))
    estimator.train(batches(repeat=None), steps=STEPS)
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(expected), rel=1e-6)


@pytest.mark.long
def test_new_kinds_continue_from_a_checkpoint() -> None:
    straight, stopped = (
        model_to_estimator(dense(optimizers.AdamW(Halving())), checkpoint_format="saver")
        for _ in range(2)
    )
    straight.train(batches(repeat=None), steps=8)
    for _ in range(2):
        stopped.train(batches(repeat=None), steps=4)
    for name in ("hidden/kernel", "training/AdamW/m/hidden/kernel", "training/AdamW/iteration"):
        np.testing.assert_allclose(
            stopped.get_variable_value(name), straight.get_variable_value(name), rtol=1e-6
        )
    assert stopped.get_variable_value("training/AdamW/iteration") == 8


@pytest.mark.parametrize("family", tiers.first([optimizers], [optimizers, optimizers.legacy]))
def test_a_users_schedule_needs_no_registration(family: Any) -> None:
    estimator = model_to_estimator(dense(family.SGD(Halving())), checkpoint_format="saver")
    estimator.train(batches(repeat=None), steps=STEPS)
    expected = fit(dense(optimizers.SGD(Halving())), STEPS)
    assert evaluated(estimator) == pytest.approx(evaluated_eagerly(expected), rel=1e-5)


@pytest.mark.parametrize("family", [optimizers, optimizers.legacy])
def test_a_schedule_without_config_is_refused(family: Any) -> None:
    with pytest.raises(ValueError, match=r"schedule Unnamed has no get_config\(\)"):
        model_to_estimator(dense(family.Adam(Unnamed())))


def test_weight_averages_log_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tensorflow"):
        model_to_estimator(dense(optimizers.Adam(use_ema=True)))
    assert any("Adam(use_ema=True): an Estimator trains without" in m for m in caplog.messages)


@pytest.mark.parametrize(
    "made", [optimizers.Nadam, functools.partial(optimizers.SGD, use_ema=True)]
)
def test_weight_decay_that_a_graph_cannot_apply_logs_a_warning(
    caplog: pytest.LogCaptureFixture, made: Callable[..., Any]
) -> None:
    with caplog.at_level(logging.WARNING, "tensorflow"):
        model_to_estimator(dense(made(weight_decay=0.1)))
    assert any("(weight_decay=0.1): an Estimator trains without" in m for m in caplog.messages)


def test_a_warning_names_variables_without_weight_decay() -> None:
    model = dense()
    optimizer = optimizers.AdamW()
    optimizer.exclude_from_weight_decay(var_list=model.layers[0].weights)
    model.compile(optimizer, "mse")
    with pytest.raises(ValueError, match="Use var_names="):
        model_to_estimator(model)


@pytest.mark.long
def test_scaled_losses_train_in_half_precision() -> None:
    tf_keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        expected, model = (dense(optimizers.SGD(0.05)) for _ in range(2))
        estimator = model_to_estimator(model, checkpoint_format="saver")
        estimator.train(batches(repeat=None), steps=4)
        fit(expected, 4)
        scale = estimator.get_variable_value("current_loss_scale")
        assert scale == expected.optimizer.loss_scale.numpy()
        seen = estimator.get_variable_value("hidden/kernel")
    finally:
        tf_keras.mixed_precision.set_global_policy("float32")
    np.testing.assert_allclose(seen, expected.get_weights()[0], rtol=1e-3)


@pytest.mark.long
def test_variables_without_gradient_do_not_change(caplog: pytest.LogCaptureFixture) -> None:
    inputs = tf_keras.Input([4])
    used = tf_keras.layers.Dense(1, name="used")(inputs)
    unused = tf_keras.layers.Dense(1, name="unused")(inputs)
    model = tf_keras.Model(inputs, [used, unused])
    for optimizer in ("sgd", tf.compat.v1.train.GradientDescentOptimizer(0.1), optimizers.Lion()):
        model.compile(optimizer, {"used": "mse"})
        estimator = model_to_estimator(model, checkpoint_format="saver")
        estimator.train(batches(), steps=1)
        kernels = [estimator.get_variable_value(f"{n}/kernel") for n in ("used", "unused")]
        assert not np.allclose(kernels[0], model.get_weights()[0])
        np.testing.assert_array_equal(kernels[1], model.get_weights()[2])
    assert caplog.text.count("Gradients do not exist for variables ['unused/kernel:0'") == 3


def test_a_model_without_anything_to_train_is_refused() -> None:
    model = dense()
    model.trainable = False
    model.compile("sgd", "mse")
    estimator = model_to_estimator(model)
    with pytest.raises(ValueError, match=r"depends on none of its trainable variables \[\]"):
        estimator.train(batches(), steps=1)
