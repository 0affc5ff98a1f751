"""Definitions that run under the original and under estimator_train alike.

No function here imports an API: each takes an `Api`, which names the flavour (v2
or v1) of one of the two, so that the recording scripts and the tests run the same job.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class Api(NamedTuple):
    """One flavour of the Estimator API and the Keras that goes with it."""

    name: str
    estimator: Any
    keras: Any
    model_to_estimator: Callable[..., Any]


def original_apis() -> Iterator[Api]:
    """Yields the flavours of the original; only a TensorFlow that still has it can be asked."""
    yield Api("v2", tf.estimator, tf.keras, tf.keras.estimator.model_to_estimator)
    yield Api("v1", tf1.estimator, tf.keras, tf1.keras.estimator.model_to_estimator)


def values(*shape: int, seed: int = 0) -> np.ndarray:
    """Fixed float32 numbers of a unit normal distribution, the same on every machine."""
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def tiny_data() -> tuple[np.ndarray, np.ndarray]:
    """Eight rows of two features with one label each."""
    x = values(8, 2, seed=1)
    return x, (x @ np.array([[2.0], [-1.0]], np.float32))[:, 0]


def tiny_input(batch_size: int = 4, repeat: int | None = None) -> tf.data.Dataset:
    """Tiny data as ({"x"}, label) batches in a fixed order."""
    x, y = tiny_data()
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(repeat).batch(batch_size)


def tiny_parts(features: dict[str, tf.Tensor], labels: tf.Tensor | None) -> dict[str, Any]:
    """Returns a linear layer with its outputs, loss and train op, to make a spec of."""
    weight = tf1.get_variable("weight", initializer=np.array([[0.5], [0.25]], np.float32))
    score = tf.matmul(features["x"], weight)[:, 0]
    parts: dict[str, Any] = {"predictions": {"score": score, "positive": score > 0.0}}
    if labels is not None:
        parts["loss"] = tf.reduce_mean(tf.square(score - labels))
        parts["train_op"] = tf1.train.GradientDescentOptimizer(0.1).minimize(
            parts["loss"], global_step=tf1.train.get_global_step()
        )
        parts["eval_metric_ops"] = {"mae": tf1.metrics.mean_absolute_error(labels, score)}
    return parts


def tiny_model_fn(api: Api, **changes: Any) -> Callable[..., Any]:
    """Returns a complete model_fn on tiny data; `changes` replace fields of its EstimatorSpec."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return api.estimator.EstimatorSpec(mode=mode, **{**tiny_parts(features, labels), **changes})

    return model_fn


def tiny_estimator(api: Api, model_dir: str, **arguments: Any) -> Any:
    """Returns an Estimator of `tiny_model_fn`, or of the `model_fn` among its arguments."""
    arguments.setdefault("model_fn", tiny_model_fn(api))
    return api.estimator.Estimator(model_dir=model_dir, **arguments)


def trained(api: Api, model_dir: str, steps: int = 2, **arguments: Any) -> Any:
    """Returns a tiny Estimator after a few steps; the ordinary one is trained once and copied."""
    if arguments:
        estimator = tiny_estimator(api, model_dir, **arguments)
        estimator.train(tiny_input, steps=steps)
        return estimator
    shutil.copytree(_trained_once(api, steps), model_dir)
    return tiny_estimator(api, model_dir)


@functools.cache
def _trained_once(api: Api, steps: int) -> str:
    base = tempfile.mkdtemp(prefix="trained")
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    model_dir = os.path.join(base, "model")
    logger = tf.get_logger()
    disabled, logger.disabled = logger.disabled, True
    try:
        tiny_estimator(api, model_dir).train(tiny_input, steps=steps)
    finally:
        logger.disabled = disabled
    return model_dir


def tiny_receiver(api: Api) -> Callable[[], Any]:
    """Returns a serving input receiver function with the feature x."""

    def receiver() -> Any:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        return api.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    return receiver
