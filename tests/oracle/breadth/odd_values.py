"""Values of which questions by hand make use: numbers, columns, optimizers of odd kinds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column
X = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0], [2.0, 0.5]], np.float32)
Y = np.array([0.5, -1.0, 2.0, 0.0], np.float32)


def x() -> Any:
    return fc.numeric_column("x", shape=2)


def word() -> Any:
    return fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)


class Halved(tf1.train.GradientDescentOptimizer):
    """Subclass with its own constructor."""

    def __init__(self, why: str) -> None:
        super().__init__(0.05)
        self.why = why


def _averaged(api: Api) -> Any:
    """Returns a function whose optimizer hangs on the step."""
    rate = tf1.train.polynomial_decay(0.1, tf1.train.get_global_step(), 10)
    return tf1.train.MomentumOptimizer(rate, 0.9)


OPTIMIZERS: dict[str, Callable[[Api], Any]] = {
    "small letters": lambda api: "adam",
    "a str of NumPy": lambda api: np.str_("Adam"),
    "bytes": lambda api: b"Adam",
    "class": lambda api: api.keras.optimizers.legacy.SGD,
    "class of v1": lambda api: functools.partial(tf1.train.GradientDescentOptimizer, 0.1),
    "partial": lambda api: functools.partial(api.keras.optimizers.legacy.Adagrad, 0.1),
    "delegates": lambda api: Delegate(api.keras.optimizers.legacy.SGD(0.1)),
    "delegates to v1": lambda api: Delegate(tf1.train.GradientDescentOptimizer(0.1)),
    "subclass of v1": lambda api: Halved("so"),
    "schedule": lambda api: api.keras.optimizers.legacy.SGD(
        api.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    ),
    "clipped": lambda api: api.keras.optimizers.legacy.Adam(0.1, clipnorm=0.1),
    "decay": lambda api: api.keras.optimizers.legacy.SGD(0.1, decay=0.5, momentum=0.9),
    "function of v1": lambda api: functools.partial(_averaged, api),
    "function that returns a name": lambda api: lambda: "SGD",
    "function that returns None": lambda api: lambda: None,
    "dict": lambda api: {"class_name": "SGD", "config": {"learning_rate": 0.1}},
    "None": lambda api: None,
    "a number": lambda api: 0.1,
    "scaled": lambda api: api.keras.mixed_precision.LossScaleOptimizer(
        api.keras.optimizers.legacy.SGD(0.1)
    ),
    "function that scales": lambda api: (
        lambda: api.keras.mixed_precision.LossScaleOptimizer(api.keras.optimizers.legacy.SGD(0.1))
    ),
    "function that scales a new one": lambda api: (
        lambda: api.keras.mixed_precision.LossScaleOptimizer(api.keras.optimizers.SGD(0.1))
    ),
    "rate that is a function": lambda api: api.keras.optimizers.legacy.SGD(lambda: 0.1),
    "rate of v1 that is a function": lambda api: tf1.train.GradientDescentOptimizer(lambda: 0.1),
    "rate that is an array": lambda api: tf1.train.AdamOptimizer(np.float64(0.1)),
}
