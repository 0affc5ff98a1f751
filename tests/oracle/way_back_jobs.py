"""Estimators of the original whose checkpoints become Keras models, and those Keras models.

Each is trained. The Keras model that loads the checkpoint must give the same predictions, and again
after more steps by `fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from jobs import Api, values
from outcomes import GOLDEN

tf1 = tf.compat.v1
CHECKPOINTS = GOLDEN / "way_back"
FIRST, MORE, BATCH = 6, 4, 8
X = values(16, 6, 6, 1, seed=1)
Y = X.mean(axis=(1, 2)) + 0.5


class Job(NamedTuple):
    """An Estimator and the Keras model for its checkpoint.

    Attributes:
        estimator: Makes it, of (api, model_dir).
        keras_model: Makes the compiled model, of the keras module.
        predicted: The key of its predictions that are the model's output.
    """

    estimator: Callable[[Api, str], Any]
    keras_model: Callable[[Any], Any]
    predicted: str


def input_fn() -> tf.data.Dataset:
    """Endless batches, two to an epoch."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(BATCH)


def predictions(job: Job, estimator: Any) -> list[list[float]]:
    """Returns an Estimator's predictions for all rows."""
    rows = estimator.predict(lambda: input_fn().take(len(X) // BATCH))
    return [[float(value) for value in np.ravel(row[job.predicted])] for row in rows]


def _model_fn(api: Api, outputs: Callable[[Any, bool], Any], optimizer: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        result = outputs(features["x"], mode == "train")
        if mode == "infer":
            return api.estimator.EstimatorSpec(mode, predictions={"y": result})
        loss = tf.reduce_mean((result - labels) ** 2)
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            step = optimizer().minimize(loss, tf1.train.get_global_step())
        return api.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    return model_fn


def _of_layers(x: Any, training: bool) -> Any:
    """Layers of tf.compat.v1, which number their variables."""
    x = tf1.layers.conv2d(x, 3, 3, activation=tf.nn.relu)
    x = tf1.layers.batch_normalization(x, training=training, momentum=0.9)
    x = tf1.layers.conv2d(x, 3, 3, activation=tf.nn.relu)
    x = tf1.layers.flatten(x)
    x = tf1.layers.dense(x, 12, activation=tf.nn.tanh)
    x = tf1.layers.dense(x, 12, activation=tf.nn.tanh)
    return tf1.layers.dense(x, 1)


def _layered(keras: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 1), name="first"),
            layers.BatchNormalization(momentum=0.9, name="norm"),
            layers.Conv2D(3, 3, activation="relu", name="second"),
            layers.Flatten(name="flat"),
            layers.Dense(12, "tanh", name="third"),
            layers.Dense(12, "tanh", name="fourth"),
            layers.Dense(1, name="out"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01, epsilon=1e-8), "mse")
    return model


def _of_variables(x: Any, training: bool) -> Any:
    """Layers by hand, named in the ways of the first tutorials."""
    del training

    def dense(scope: str, inputs: Any, units: int) -> Any:
        with tf1.variable_scope(scope):
            weights = tf1.get_variable("weights", [inputs.shape[-1], units])
            return inputs @ weights + tf1.get_variable("biases", [units])

    hidden = tf.nn.relu(dense("hidden1", tf.reshape(x, [-1, 36]), 7))
    hidden = tf.nn.relu(dense("hidden2", hidden, 7))
    hidden = tf.nn.relu(dense("hidden3", hidden, 7))
    return dense("softmax_linear", hidden, 1)


def _plain(keras: Any, optimizer: Any) -> Any:
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Flatten(input_shape=(6, 6, 1)),
            layers.Dense(7, "relu"),
            layers.Dense(7, "relu"),
            layers.Dense(7, "relu"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer, "mse")
    return model


def _of_keras(checkpoint_format: str) -> Callable[[Api, str], Any]:
    def estimator(api: Api, model_dir: str) -> Any:
        api.keras.utils.set_random_seed(1)
        return api.model_to_estimator(
            _named(api.keras), model_dir=model_dir, checkpoint_format=checkpoint_format
        )

    return estimator


def _named(keras: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input([6, 6, 1], name="x")
    x = layers.Dense(7, name="hidden", use_bias=False)(layers.Flatten(name="flat")(inputs))
    x = layers.Activation("tanh", name="tanh")(layers.BatchNormalization(name="norm")(x))
    model = keras.Model(inputs, layers.Dense(1, name="out")(x))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model


def _regressor(api: Api, model_dir: str) -> Any:
    return api.estimator.DNNRegressor(
        [7, 7, 7],
        [tf.feature_column.numeric_column("x", [6, 6, 1])],
        model_dir=model_dir,
        config=api.estimator.RunConfig(tf_random_seed=1),
    )


def _adam() -> Any:
    return tf1.train.AdamOptimizer(0.01)


def _momentum() -> Any:
    return tf1.train.MomentumOptimizer(0.01, 0.9)


def _by_hand(outputs: Callable[[Any, bool], Any], optimizer: Any) -> Callable[[Api, str], Any]:
    def estimator(api: Api, model_dir: str) -> Any:
        # Initializers of tf.compat.v1.layers draw their seeds from Python's.
        api.keras.utils.set_random_seed(1)
        config = api.estimator.RunConfig(tf_random_seed=1)
        return api.estimator.Estimator(_model_fn(api, outputs, optimizer), model_dir, config)

    return estimator


JOBS = {
    "layers": Job(_by_hand(_of_layers, _adam), _layered, "y"),
    "variables": Job(
        _by_hand(_of_variables, _momentum),
        lambda keras: _plain(keras, keras.optimizers.SGD(0.01, momentum=0.9)),
        "y",
    ),
    "keras_saver": Job(_of_keras("saver"), _named, "out"),
    "keras_checkpoint": Job(_of_keras("checkpoint"), _named, "out"),
    # Adagrad at 0.05 is its default.
    "regressor": Job(
        _regressor,
        lambda keras: _plain(keras, keras.optimizers.Adagrad(0.05)),
        "predictions",
    ),
}
