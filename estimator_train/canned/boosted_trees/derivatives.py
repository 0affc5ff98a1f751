"""First and second derivatives of a loss by the logits of each example."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf


class Derivatives(NamedTuple):
    """Derivatives of the loss of a batch.

    Attributes:
      gradients: float32 [batch, logits].
      hessians: float32 [batch, logits * logits], a matrix for each example.
    """

    gradients: tf.Tensor
    hessians: tf.Tensor


def compute_derivatives(loss: tf.Tensor, logits: tf.Tensor) -> Derivatives:
    """Returns the derivatives of the loss of any head or loss_fn.

    Args:
      loss: The loss of the batch: a sum or mean over examples.
      logits: float32 [batch, logits]; the loss of an example depends on its own alone.

    Raises:
      ValueError: The loss does not depend on the logits.
    """
    [gradients] = tf.gradients(loss, [logits], unconnected_gradients="none")
    if gradients is None:
        raise ValueError(f"The loss {loss} does not depend on the logits, so no tree can lower it.")
    rows = [
        tf.gradients(gradients[:, number], [logits], unconnected_gradients="zero")[0]
        for number in range(logits.shape[1])
    ]
    return Derivatives(gradients, tf.concat(rows, 1))


def compute_softmax_losses(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Returns the cross entropy of each example without adding it to the collection LOSSES.

    Args:
      labels: Class numbers, int [batch, 1].
      logits: float32 [batch, classes].

    Returns:
      float32 [batch, 1].
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.squeeze(labels, axis=-1), logits)
    return tf.expand_dims(losses, axis=-1)
