"""A linear model and its data, small enough to train in a blink."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

EXAMPLES = 64
WEIGHTS = np.float32([[1.0], [-2.0], [0.5]])


def linear_model_fn(features, labels, mode):
    x = features["x"] if isinstance(features, dict) else features
    w = tf.compat.v1.get_variable("w", [3, 1], initializer=tf.compat.v1.zeros_initializer())
    prediction = tf.matmul(x, w)
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"p": prediction})
    loss = tf.reduce_mean((prediction - labels) ** 2)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    metrics = {"bias": tf.compat.v1.metrics.mean(prediction - labels)}
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def linear_arrays():
    x = np.random.RandomState(0).randn(EXAMPLES, 3).astype(np.float32)
    return x, x @ WEIGHTS


def linear_input_fn(epochs=None, batch_size=8):
    def input_fn():
        x, y = linear_arrays()
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        return dataset.repeat(epochs).batch(batch_size)

    return input_fn


@pytest.fixture
def model_fn():
    return linear_model_fn


@pytest.fixture
def input_fn():
    return linear_input_fn()


@pytest.fixture
def one_epoch():
    return linear_input_fn(epochs=1)


@pytest.fixture
def arrays():
    return linear_arrays()


@pytest.fixture
def gradient_descent():
    """Returns the weights after some steps of gradient descent over the same batches, in NumPy."""

    def weights_after(steps, rate=0.1, batch_size=8):
        x, y = linear_arrays()
        w = np.zeros((3, 1), np.float32)
        for step in range(steps):
            rows = (np.arange(batch_size) + step * batch_size) % EXAMPLES
            error = x[rows] @ w - y[rows]
            w = w - rate * 2 * x[rows].T @ error / batch_size
        return w

    return weights_after
