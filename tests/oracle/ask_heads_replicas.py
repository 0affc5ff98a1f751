"""Heads under a strategy of two replicas; a separate program, because it configures devices."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
_EVALUATED = ("sum", "keras")
_ASKED = (
    _EVALUATED,
    ("sum_over_batch_size", "keras"),
    ("auto", "keras"),
    ("sum", "v1"),
    ("auto", "v1"),
)
NAMES = [f"{reduction} {kind}" for reduction, kind in _ASKED]
X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0], [-1.0, 0.5]], np.float32)
Y = np.array([[1.0], [0.0], [0.5], [1.0]], np.float32)


def two_devices() -> None:
    """Splits the processor in two; before TensorFlow has started."""
    processor = tf.config.list_physical_devices("CPU")[0]
    halves = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(processor, halves)


def answers(estimator: Any, heads: Any, optimizers: Any) -> dict[str, Any]:
    """Weights after one step of 0.1, and an evaluation, by loss reduction and optimizer.

    Args:
        estimator: Where Estimator and RunConfig are.
        heads: Where the classes of heads are.
        optimizers: The legacy optimizers of Keras.
    """
    found = {}
    for reduction, kind in _ASKED:
        head = heads.BinaryClassHead(loss_reduction=reduction)
        with tempfile.TemporaryDirectory() as directory:
            asked = estimator.Estimator(
                _model_fn(head, optimizers if kind == "keras" else None),
                directory,
                _config(estimator),
            )
            asked.train(lambda: _data().repeat(), steps=1)
            answer = {"weights": asked.get_variable_value("weights").ravel().tolist()}
            if (reduction, kind) == _EVALUATED:
                evaluation = asked.evaluate(lambda: _data(), steps=1)
                answer["evaluation"] = {key: float(value) for key, value in evaluation.items()}
        found[f"{reduction} {kind}"] = answer
    return found


def _data() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2)


def _config(estimator: Any) -> Any:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    session = v1.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
    return estimator.RunConfig(
        train_distribute=strategy, eval_distribute=strategy, session_config=session
    )


def _model_fn(head: Any, optimizers: Any) -> Any:
    def train_op(loss: tf.Tensor) -> Any:
        step = v1.train.get_global_step()
        return v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weights = v1.get_variable("weights", initializer=np.array([[0.5], [-1.0]], np.float32))
        training: dict[str, Any] = {"train_op_fn": train_op}
        if optimizers:
            optimizer = optimizers.SGD(0.1)
            optimizer.iterations = v1.train.get_or_create_global_step()
            training = {"optimizer": optimizer, "trainable_variables": [weights]}
        logits = tf.matmul(features["x"], weights)
        regularization = [tf.reduce_sum(tf.square(weights))]
        return head.create_estimator_spec(
            features, mode, logits, labels, regularization_losses=regularization, **training
        )

    return model_fn
