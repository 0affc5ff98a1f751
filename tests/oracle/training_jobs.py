"""Jobs with a model_fn of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from figures import Job
from jobs import Api, values

tf1 = tf.compat.v1
CLASSES = 3


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` rows of 20 features, [count, 20] float32, and their classes, [count] int64."""
    x = values(count, 20, seed=seed)
    return x, np.argmax(x @ values(20, CLASSES, seed=3), axis=1)


def train_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(_named(*rows(256, 1))).repeat().batch(32)


def eval_input() -> tf.data.Dataset:
    """Returns an input whose last batch is smaller than the others."""
    return tf.data.Dataset.from_tensor_slices(_named(*rows(60, 2))).batch(16)


def _named(x: np.ndarray, y: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    return {"x": x}, y


def _layer(x: tf.Tensor, units: int, name: str, seed: int) -> tf.Tensor:
    """Returns a dense layer made of nothing but variables of fixed initial values."""
    with tf1.variable_scope(name):
        kernel = 0.3 * values(int(x.shape[-1]), units, seed=seed)
        weights = tf1.get_variable("kernel", initializer=kernel)
        bias = tf1.get_variable("bias", initializer=np.zeros([units], np.float32))
    return tf.matmul(x, weights) + bias


def classifier_fn(api: Api, optimizer: Callable[[], Any]) -> Callable[..., Any]:
    """Returns a model_fn: two dense layers, softmax cross-entropy, accuracy, one user summary."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        x = tf.ensure_shape(features["x"], [None, 20])
        logits = _layer(tf.nn.relu(_layer(x, 16, "hidden", 4)), CLASSES, "logits", 5)
        predictions = {
            "classes": tf.argmax(logits, axis=1),
            "probabilities": tf.nn.softmax(logits),
        }
        if mode == api.estimator.ModeKeys.PREDICT:
            return api.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        accuracy = tf1.metrics.accuracy(labels, predictions["classes"])
        tf1.summary.scalar("train/accuracy", accuracy[1])
        train_op = optimizer().minimize(loss, global_step=tf1.train.get_global_step())
        return api.estimator.EstimatorSpec(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={"accuracy": accuracy},
        )

    return model_fn


def receiver(api: Api) -> Callable[[], Any]:
    """Returns a receiver of serialised examples with x."""
    spec = {"x": tf.io.FixedLenFeature([20], tf.float32)}
    return api.estimator.export.build_parsing_serving_input_receiver_fn(spec)


def _job(optimizer: Callable[[], Any]) -> Job:
    def build(api: Api, model_dir: str, config: Any) -> Any:
        return api.estimator.Estimator(classifier_fn(api, optimizer), model_dir, config)

    return Job(build, train_input, eval_input, receiver)


JOBS = {
    "sgd": _job(lambda: tf1.train.GradientDescentOptimizer(0.1)),
    "adam": _job(lambda: tf1.train.AdamOptimizer(0.01)),
}
