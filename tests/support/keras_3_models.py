"""Small Keras 3 models, their data, and their training by `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

BATCH = 8
ROWS = 64
_RANDOM = np.random.RandomState(0)
X = _RANDOM.randn(ROWS, 4).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)
PICTURES = _RANDOM.randn(ROWS, 6, 6, 1).astype(np.float32)
CLASSES = _RANDOM.randint(0, 3, ROWS)
WORDS = _RANDOM.randint(0, 20, (ROWS, 5))
layers = keras.layers


class OwnStep(keras.Model):
    """Model with its own train_step: the loss has a term of the inputs' gradient."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden = layers.Dense(5, activation="tanh")
        self.out = layers.Dense(1)
        self.penalty = keras.metrics.Mean(name="penalty")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return self.out(self.hidden(x))

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                predicted = self(x, training=True)
            penalty = tf.reduce_mean(inner.gradient(predicted, x) ** 2)
            loss = self.compute_loss(x, y, predicted) + 0.1 * penalty
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.penalty.update_state(penalty)
        logs = self.compute_metrics(x, y, predicted)
        return {**logs, "loss": loss, "penalty": self.penalty.result()}


def linear() -> keras.Model:
    model = keras.Sequential([layers.Input([4]), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    return model


def convnet() -> keras.Model:
    model = keras.Sequential(
        [
            layers.Input([6, 6, 1]),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.0),
            layers.Flatten(),
            layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3, weight_decay=1e-3), loss, metrics=["accuracy"])
    return model


def two_in_two_out() -> keras.Model:
    one, two = keras.Input([4], name="one"), keras.Input([4], name="two")
    joined = layers.concatenate([one, two])
    out = layers.Dense(1, name="sum")(joined)
    wide = layers.Dense(2, name="pair", kernel_regularizer="l2")(joined)
    model = keras.Model({"one": one, "two": two}, {"sum": out, "pair": wide})
    model.compile(
        keras.optimizers.RMSprop(1e-3, global_clipnorm=1.0),
        {"sum": "mse", "pair": "mae"},
        loss_weights={"sum": 1.0, "pair": 0.5},
        metrics={"sum": ["mae"]},
    )
    return model


def recurrent() -> keras.Model:
    model = keras.Sequential(
        [layers.Input([5], dtype="int32"), layers.Embedding(20, 4), layers.LSTM(6), layers.Dense(1)]
    )
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, 50, 0.5)
    model.compile(keras.optimizers.Adam(rate), "mse")
    return model


def own_step() -> keras.Model:
    model = OwnStep()
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), "mse", metrics=["mae"])
    return model


DATA: dict[str, tuple[Any, Any]] = {
    "linear": (X, Y),
    "convnet": (PICTURES, CLASSES),
    "two_in_two_out": (
        {"one": X, "two": X[::-1].copy()},
        {"sum": Y, "pair": np.concatenate([Y, Y], 1)},
    ),
    "recurrent": (WORDS, Y),
    "own_step": (X, Y),
}
BUILDERS: dict[str, Callable[[], keras.Model]] = {
    "linear": linear,
    "convnet": convnet,
    "two_in_two_out": two_in_two_out,
    "recurrent": recurrent,
    "own_step": own_step,
}


def built(name: str) -> keras.Model:
    """Returns a compiled model with the same weights every time."""
    keras.utils.set_random_seed(1)
    model = BUILDERS[name]()
    if not model.built:
        model(DATA[name][0][:1])
    return model


def dataset(name: str, batch: int = BATCH) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(DATA[name]).batch(batch)


class BatchLosses(keras.callbacks.Callback):
    """Records the loss of each batch of `fit`."""

    def __init__(self) -> None:
        super().__init__()
        self.losses: list[float] = []

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.model.reset_metrics()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.losses.append(float(logs["loss"]))


def fit_losses(model: keras.Model, data: tf.data.Dataset, steps: int) -> list[float]:
    """Trains by `fit`; returns the loss of each step."""
    recorder = BatchLosses()
    model.fit(data.repeat(), steps_per_epoch=steps, callbacks=[recorder], verbose=0, shuffle=False)
    return recorder.losses


class LossRecorder(tf.compat.v1.train.SessionRunHook):
    """Records the loss of each step."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def begin(self) -> None:
        self._loss = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[-1]

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.losses.append(float(run_values.results))
