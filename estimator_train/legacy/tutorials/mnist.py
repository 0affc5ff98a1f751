"""`tf.examples.tutorials.mnist.mnist`: the functions that build the tutorial's network."""

import math
from collections.abc import Callable

import tensorflow as tf

_v1 = tf.compat.v1

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: tf.Tensor, hidden1_units: int, hidden2_units: int) -> tf.Tensor:
    """Builds two hidden layers of rectified units and returns float32 logits [batch, 10].

    Args:
      images: Shape [batch, 784].
      hidden1_units: Units of the first hidden layer.
      hidden2_units: Units of the second hidden layer.
    """
    hidden = _add_layer("hidden1", images, IMAGE_PIXELS, hidden1_units, tf.nn.relu)
    hidden = _add_layer("hidden2", hidden, hidden1_units, hidden2_units, tf.nn.relu)
    return _add_layer("softmax_linear", hidden, hidden2_units, NUM_CLASSES, tf.identity)


def _add_layer(
    scope: str,
    inputs: tf.Tensor,
    size: int,
    units: int,
    activation: Callable[[tf.Tensor], tf.Tensor],
) -> tf.Tensor:
    with _v1.name_scope(scope):
        first = _v1.truncated_normal([size, units], stddev=1.0 / math.sqrt(size))
        weights = _v1.Variable(first, name="weights")
        biases = _v1.Variable(tf.zeros([units]), name="biases")
        return activation(tf.matmul(inputs, weights) + biases)


def loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the mean cross entropy of a batch.

    Args:
      logits: Shape [batch, 10].
      labels: Class numbers, shape [batch].
    """
    labels = tf.cast(labels, tf.int64)
    return _v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)


def training(loss: tf.Tensor, learning_rate: float) -> tf.Operation:
    """Returns an operation that runs one step of gradient descent, and adds a summary of the loss.

    Args:
      loss: The loss to minimize.
      learning_rate: The learning rate.
    """
    _v1.summary.scalar("loss", loss)
    optimizer = _v1.train.GradientDescentOptimizer(learning_rate)
    step = _v1.Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=step)


def evaluation(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the number of correctly classified examples of a batch, int32.

    Args:
      logits: Shape [batch, 10].
      labels: Class numbers, shape [batch].
    """
    right = tf.math.in_top_k(tf.cast(labels, tf.int32), logits, 1)
    return tf.reduce_sum(tf.cast(right, tf.int32))
