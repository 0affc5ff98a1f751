"""Small tf_keras models and their data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

ROWS, BATCH = 32, 8
_RANDOM = np.random.RandomState(0)
X = _RANDOM.randn(ROWS, 4).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def compiled(model: Any, optimizer: Any = "sgd", loss: Any = "mse", **arguments: Any) -> Any:
    model.compile(optimizer, loss, **arguments)
    return model


def dense(optimizer: Any = "sgd", **arguments: Any) -> Any:
    """Returns a Sequential model of two layers, the same weights every time."""
    tf_keras.utils.set_random_seed(1)
    layers = [
        tf_keras.layers.Dense(3, activation="tanh", input_shape=(4,), name="hidden"),
        tf_keras.layers.Dense(1, name="out"),
    ]
    return compiled(tf_keras.Sequential(layers), optimizer, **arguments)


def batches(features: Any = X, labels: Any = Y, repeat: int | None = 1) -> Callable[[], Any]:
    """Returns an input_fn; labels=None omits the labels, and repeat=None repeats for ever."""

    def input_fn() -> tf.data.Dataset:
        parts = features if labels is None else (features, labels)
        return tf.data.Dataset.from_tensor_slices(parts).repeat(repeat).batch(BATCH)

    return input_fn


def fit(model: Any, steps: int, features: Any = X, labels: Any = Y) -> Any:
    """Trains eagerly on the batches that `batches` gives, in the same order."""
    for step in range(steps):
        rows = slice(step * BATCH % ROWS, step * BATCH % ROWS + BATCH)
        model.train_on_batch(
            tf.nest.map_structure(lambda a, rows=rows: a[rows], features),
            tf.nest.map_structure(lambda a, rows=rows: a[rows], labels),
        )
    return model


def evaluated(estimator: Any, features: Any = X, labels: Any = Y) -> dict[str, float]:
    result = estimator.evaluate(batches(features, labels))
    return {name: float(value) for name, value in result.items() if name != "global_step"}


def evaluated_eagerly(model: Any, features: Any = X, labels: Any = Y) -> dict[str, float]:
    return model.evaluate(features, labels, batch_size=BATCH, verbose=0, return_dict=True)
