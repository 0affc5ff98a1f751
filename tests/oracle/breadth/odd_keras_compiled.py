"""Odd values for what Keras models are compiled with: losses, metrics, weights, optimizers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, odd
from breadth.odd_keras import compiled
from jobs import Api

tf1 = tf.compat.v1


def _squared(labels: Any, predictions: Any) -> Any:
    return tf.square(labels - predictions)


class Squares:
    """A loss or metric that is an object."""

    def __call__(self, labels: Any, predictions: Any) -> Any:
        return tf.square(labels - predictions)


def _own_loss(api: Api) -> Any:
    class Loss(api.keras.losses.Loss):
        """Has its own constructor."""

        def __init__(self, factor: float) -> None:
            super().__init__(name="own")
            self.factor = factor

        def call(self, y_true: Any, y_pred: Any) -> Any:
            return self.factor * tf.square(y_true - y_pred)

    return Loss(3.0)


def _own_metric(api: Api, config: str = "") -> Any:
    class Metric(api.keras.metrics.Mean):
        """Has its own constructor."""

        def __init__(self, factor: float, name: str = "own", **more: Any) -> None:
            super().__init__(name=name, **more)
            self.factor = factor

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
            return super().update_state(self.factor * (y_true - y_pred), sample_weight)

        if config == "all":

            def get_config(self) -> Any:
                return {**super().get_config(), "factor": self.factor}

        if config == "popped":

            def get_config(self) -> Any:
                return self.__dict__.setdefault("_all", {"factor": self.factor, "more": 1})

            @classmethod
            def from_config(cls, config: Any) -> Any:
                config.pop("more")
                return cls(config.pop("factor"))

    return Metric(2.0)


def _losses(api: Api) -> Any:
    return api.keras.losses


LOSSES: dict[str, Callable[[Api], Any]] = {
    "function": lambda api: _squared,
    "lambda": lambda api: lambda labels, predictions: tf.abs(labels - predictions),
    "partial": lambda api: functools.partial(_squared),
    "object": lambda api: Squares(),
    "method": lambda api: Squares().__call__,
    "own class": _own_loss,
    "class": lambda api: _losses(api).MeanSquaredError,
    "delegates": lambda api: Delegate(_losses(api).MeanSquaredError()),
    "config": lambda api: {"class_name": "MeanSquaredError", "config": {}},
    "dict by output": lambda api: {"out": "mse"},
    "own mapping": lambda api: Names({"out": "mse"}),
    "dict of another": lambda api: {"other": "mse"},
    "list": lambda api: ["mse"],
    "tuple": lambda api: ("mse",),
    "list of two": lambda api: ["mse", "mae"],
    "capitals": lambda api: "MeanSquaredError",
    "unknown": lambda api: "nothing",
    "None": lambda api: None,
    "a number": lambda api: 3,
    "none": lambda api: _losses(api).MeanSquaredError(reduction="none"),
    "sum": lambda api: _losses(api).MeanSquaredError(reduction="sum"),
    "of v1": lambda api: lambda y, p: tf1.losses.mean_squared_error(y, p),
    "Huber": lambda api: _losses(api).Huber(0.5),
}
METRICS: dict[str, Callable[[Api], Any]] = {
    "a name": lambda api: "mae",
    "a tuple": lambda api: ("mae", "mse"),
    "function": lambda api: [_squared],
    "partial": lambda api: [functools.partial(_squared)],
    "object": lambda api: [Squares()],
    "lambda": lambda api: [lambda y, p: tf.abs(y - p)],
    "two lambdas": lambda api: [lambda y, p: tf.abs(y - p), lambda y, p: tf.square(y - p)],
    "the same twice": lambda api: ["mae", "mae"],
    "own class": lambda api: [_own_metric(api, "all")],
    "own class without config": lambda api: [_own_metric(api)],
    "own class whose from_config pops": lambda api: [_own_metric(api, "popped")],
    "class": lambda api: [api.keras.metrics.MeanAbsoluteError],
    "instance": lambda api: api.keras.metrics.MeanAbsoluteError(name="so"),
    "named as the loss": lambda api: [api.keras.metrics.MeanAbsoluteError(name="loss")],
    "loss": lambda api: [api.keras.losses.MeanAbsoluteError()],
    "accuracy": lambda api: ["accuracy", "acc"],
    "dict": lambda api: {"out": ["mae"]},
    "dict of a name": lambda api: {"out": "mae"},
    "dict of another": lambda api: {"other": "mae"},
    "own mapping": lambda api: Names({"out": "mae"}),
    "list of lists": lambda api: [["mae"]],
    "None among them": lambda api: [None],
    "unknown": lambda api: ["nothing"],
    "a number": lambda api: [3],
    "a mean": lambda api: [api.keras.metrics.MeanMetricWrapper(_squared, name="wrapped")],
    "root": lambda api: [api.keras.metrics.RootMeanSquaredError()],
}
odd("keras.loss", {k: compiled(loss=v) for k, v in LOSSES.items()}, ("v2",))
odd("keras.metrics", {k: compiled(metrics=v) for k, v in METRICS.items()}, ("v2",))
odd(
    "keras.weighted_metrics",
    {k: compiled(weighted_metrics=METRICS[k]) for k in ("a name", "function", "instance", "dict")},
    ("v2",),
)
WEIGHTS: dict[str, Callable[[Api], Any]] = {
    "list": lambda api: [0.5],
    "dict": lambda api: {"out": 0.5},
    "number": lambda api: 0.5,
    "tuple": lambda api: (0.5,),
    "of NumPy": lambda api: [np.float32(0.5)],
    "tensor": lambda api: [tf.constant(0.5)],
    "int": lambda api: [2],
    "two": lambda api: [1.0, 2.0],
    "of another": lambda api: {"other": 1.0},
}
odd("keras.loss_weights", {k: compiled(loss_weights=v) for k, v in WEIGHTS.items()}, ("v2",))


def _optimizers(api: Api) -> Any:
    return api.keras.optimizers


def _without_config(api: Api) -> Any:
    class Schedule(_optimizers(api).schedules.LearningRateSchedule):
        """A schedule that no config is written of."""

        def __call__(self, step: Any) -> Any:
            return 0.1 / (1.0 + tf.cast(step, tf.float32))

    return Schedule()


def _own_legacy(api: Api) -> Any:
    class Mine(_optimizers(api).legacy.SGD):
        """Has its own constructor."""

        def __init__(self, rate: float) -> None:
            super().__init__(rate, name="Mine")
            self.rate = rate

    return Mine(0.1)


def _undecayed(api: Api) -> Any:
    found = _optimizers(api).SGD(0.1, weight_decay=0.1)
    found.exclude_from_weight_decay(var_names=["bias"])
    return found


OPTIMIZERS: dict[str, Callable[[Api], Any]] = {
    "capitals": lambda api: "SGD",
    "unknown": lambda api: "nothing",
    "config": lambda api: {"class_name": "SGD", "config": {"learning_rate": 0.1}},
    "class": lambda api: _optimizers(api).legacy.SGD,
    "legacy": lambda api: _optimizers(api).legacy.SGD(0.1, momentum=0.9),
    "legacy, own class": _own_legacy,
    "legacy, clipped": lambda api: _optimizers(api).legacy.SGD(0.1, clipvalue=0.1),
    "legacy, schedule": lambda api: _optimizers(api).legacy.SGD(
        _optimizers(api).schedules.ExponentialDecay(0.1, 1, 0.5)
    ),
    "legacy, schedule without config": lambda api: _optimizers(api).legacy.SGD(
        _without_config(api)
    ),
    "legacy, rate that is a function": lambda api: _optimizers(api).legacy.SGD(lambda: 0.1),
    "legacy, delegates": lambda api: Delegate(_optimizers(api).legacy.SGD(0.1)),
    "v1": lambda api: tf1.train.MomentumOptimizer(0.1, 0.9),
    "v1, rate that is a tensor": lambda api: tf1.train.GradientDescentOptimizer(tf.constant(0.1)),
    "v1, rate that is a function": lambda api: tf1.train.GradientDescentOptimizer(lambda: 0.1),
    "v1, delegates": lambda api: Delegate(tf1.train.GradientDescentOptimizer(0.1)),
    "new": lambda api: _optimizers(api).SGD(0.1),
    "new, clipped": lambda api: _optimizers(api).SGD(0.1, global_clipnorm=0.1),
    "new, averages": lambda api: _optimizers(api).SGD(0.1, use_ema=True),
    "new, decay": lambda api: _optimizers(api).SGD(0.1, weight_decay=0.1),
    "new, averages and decay": lambda api: _optimizers(api).SGD(
        0.1, weight_decay=0.1, use_ema=True
    ),
    "new, decay of some": _undecayed,
    "new, Nadam with decay": lambda api: _optimizers(api).Nadam(0.1, weight_decay=0.1),
    "new, schedule": lambda api: _optimizers(api).SGD(
        _optimizers(api).schedules.ExponentialDecay(0.1, 1, 0.5)
    ),
    "new, schedule without config": lambda api: _optimizers(api).SGD(_without_config(api)),
    "new, subclass": lambda api: _subclass_of(_optimizers(api).SGD(0.1)),
    "new, AdamW": lambda api: _optimizers(api).AdamW(0.1),
    "new, Lion": lambda api: _optimizers(api).Lion(0.1),
    "scaled": lambda api: api.keras.mixed_precision.LossScaleOptimizer(_optimizers(api).SGD(0.1)),
    "scaled legacy": lambda api: api.keras.mixed_precision.LossScaleOptimizer(
        _optimizers(api).legacy.SGD(0.1)
    ),
    "None": lambda api: None,
}
odd("keras.optimizer", {k: compiled(optimizer=v) for k, v in OPTIMIZERS.items()}, ("v2",))
