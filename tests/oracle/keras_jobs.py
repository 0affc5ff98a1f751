"""Jobs of Keras models through model_to_estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from figures import Job
from jobs import Api, values
from training_jobs import CLASSES, rows


def with_fixed_weights(model: Any, gain: float = 0.5) -> Any:
    """Set weights that are the same everywhere: normal kernels, the rest as made."""
    model.set_weights(
        [
            gain * values(*weight.shape, seed=index) / np.sqrt(np.prod(weight.shape[:-1]))
            if weight.ndim > 1
            else weight
            for index, weight in enumerate(model.get_weights())
        ]
    )
    return model


def dense_model(api: Api, optimizer: Callable[[Api], Any]) -> Any:
    """Returns a functional model with batch norm and an L2 regulariser."""
    layers = api.keras.layers
    x = inputs = api.keras.Input([20], name="x")
    l2 = api.keras.regularizers.l2(0.01)
    # Without a bias: its gradient before batch norm is rounding noise, which Adam blows up.
    x = layers.Dense(16, use_bias=False, kernel_regularizer=l2, name="hidden")(x)
    x = layers.Activation("relu", name="relu")(layers.BatchNormalization(name="norm")(x))
    outputs = layers.Dense(CLASSES, activation="softmax", name="classes")(x)
    model = with_fixed_weights(api.keras.Model(inputs, outputs))
    model.compile(optimizer(api), "categorical_crossentropy", metrics=["accuracy"])
    return model


def conv_model(api: Api, optimizer: Callable[[Api], Any]) -> Any:
    """Returns the ConvNet of the tutorial, a Sequential of 28x28 images."""
    layers = api.keras.layers
    model = api.keras.Sequential(
        [
            layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1), name="conv_1"),
            layers.MaxPooling2D(2, name="pool_1"),
            layers.Conv2D(64, 3, activation="relu", name="conv_2"),
            layers.MaxPooling2D(2, name="pool_2"),
            layers.Conv2D(64, 3, activation="relu", name="conv_3"),
            layers.Flatten(name="flat"),
            layers.Dense(64, activation="relu", name="dense_1"),
            layers.Dense(10, activation="softmax", name="classes"),
        ]
    )
    with_fixed_weights(model, gain=1.4)
    model.compile(optimizer(api), "categorical_crossentropy", metrics=["accuracy"])
    return model


def two_headed_model(api: Api, optimizer: Callable[[Api], Any]) -> Any:
    """Returns a functional model of two inputs and two outputs, each with a loss and metrics."""
    layers = api.keras.layers
    left, right = api.keras.Input([12], name="left"), api.keras.Input([8], name="right")
    both = layers.Concatenate(name="both")([left, right])
    hidden = layers.Dense(16, activation="relu", name="hidden")(both)
    classes = layers.Dense(CLASSES, activation="softmax", name="classes")(hidden)
    total = layers.Dense(1, name="total")(hidden)
    model = with_fixed_weights(api.keras.Model([left, right], [classes, total]))
    model.compile(
        optimizer(api),
        {"classes": "categorical_crossentropy", "total": "mse"},
        metrics={"classes": "accuracy", "total": "mae"},
        loss_weights={"classes": 1.0, "total": 0.01},
    )
    return model


def _one_hot(y: np.ndarray, classes: int) -> np.ndarray:
    return np.eye(classes, dtype=np.float32)[y]


def dense_data(count: int, seed: int) -> Any:
    x, y = rows(count, seed)
    return {"x": x}, _one_hot(y, CLASSES)


def conv_data(count: int, seed: int) -> Any:
    """Images of noise with a brighter band whose place says the class."""
    x = np.abs(values(count, 28, 28, 1, seed=seed)) / 4.0
    y = np.arange(count) % 10
    for image, label in zip(x, y, strict=True):
        image[2 * label : 2 * label + 4] += 0.15
    return {"conv_1_input": x}, _one_hot(y, 10)


def two_headed_data(count: int, seed: int) -> Any:
    x, y = rows(count, seed)
    total = x.sum(axis=1, keepdims=True)
    return {"left": x[:, :12], "right": x[:, 12:]}, {
        "classes": _one_hot(y, CLASSES),
        "total": total,
    }


def batches(data: Callable[..., Any], count: int, seed: int, batch: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data(count, seed)).batch(batch)


def endless(data: Callable[..., Any], count: int, seed: int, batch: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(data(count, seed)).repeat().batch(batch)


def _receiver(data: Callable[..., Any], api: Api) -> Callable[[], Any]:
    """Returns a receiver of the features as they are, of any batch size."""

    def receive() -> Any:
        features, _ = data(1, 0)
        tensors = {
            name: tf.compat.v1.placeholder(tf.float32, [None, *array.shape[1:]], name=name)
            for name, array in features.items()
        }
        return api.estimator.export.ServingInputReceiver(tensors, dict(tensors))

    return receive


def _sgd(api: Api) -> Any:
    return api.keras.optimizers.SGD(0.1)


def _adam(api: Api) -> Any:
    return api.keras.optimizers.Adam(0.01)


def _legacy_adam(api: Api) -> Any:
    return api.keras.optimizers.legacy.Adam(0.01)


def _v1_adam(api: Api) -> Any:
    return tf.compat.v1.train.AdamOptimizer(0.01)


def _tutorial_adam(api: Api) -> Any:
    return api.keras.optimizers.Adam(0.001)


def _job(
    model: Any,
    data: Any,
    optimizer: Any,
    flavours: tuple[str, ...] = ("v2",),
    **arguments: Any,
) -> Job:
    def build(api: Api, model_dir: str, config: Any) -> Any:
        return api.model_to_estimator(
            model(api, optimizer), model_dir=model_dir, config=config, **arguments
        )

    return Job(
        build,
        partial(endless, data, 256, 1, 32),
        partial(batches, data, 60, 2, 16),
        partial(_receiver, data),
        flavours,
    )


BOTH = ("v2", "v1")
JOBS = {
    "sgd": _job(dense_model, dense_data, _sgd, BOTH),
    "adam": _job(dense_model, dense_data, _adam, BOTH),
    # The format that is not the flavour's own.
    "adam_saver": _job(dense_model, dense_data, _adam, checkpoint_format="saver"),
    "adam_checkpoint": _job(
        dense_model, dense_data, _adam, ("v1",), checkpoint_format="checkpoint"
    ),
    "legacy_adam": _job(dense_model, dense_data, _legacy_adam),
    "v1_adam": _job(dense_model, dense_data, _v1_adam),
    "by_name": _job(dense_model, dense_data, lambda api: "rmsprop"),
    "two_heads": _job(two_headed_model, two_headed_data, _adam, BOTH),
    "conv": _job(conv_model, conv_data, _tutorial_adam, BOTH),
}
