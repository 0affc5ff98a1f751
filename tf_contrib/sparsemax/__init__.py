"""Stand-in for `tf.contrib.sparsemax`: a softmax with zeros (Martins and Astudillo, 2016)."""

import tensorflow as tf

from tf_contrib._types import TensorLike

__all__ = ["sparsemax", "sparsemax_loss"]


def sparsemax(logits: TensorLike, name: str | None = None) -> tf.Tensor:
    """Returns for each row the nearest point of the probability simplex (their algorithm 1).

    Args:
      logits: Numbers of shape [batch, classes].
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "sparsemax"):
        logits = tf.convert_to_tensor(logits)
        descending = tf.sort(logits, direction="DESCENDING")
        sums = tf.cumsum(descending, -1)
        ranks = tf.range(1, tf.cast(tf.shape(logits)[-1], logits.dtype) + 1, dtype=logits.dtype)
        is_kept = 1 + ranks * descending > sums
        count = tf.reduce_sum(tf.cast(is_kept, tf.int32), -1, keepdims=True)
        kept_sum = tf.gather(sums, count - 1, batch_dims=1)
        threshold = (kept_sum - 1) / tf.cast(count, logits.dtype)
        return tf.nn.relu(logits - threshold)


def sparsemax_loss(
    logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None
) -> tf.Tensor:
    """Returns the loss of each row, whose gradient is sparsemax minus labels (their equation 20).

    Args:
      logits: Numbers of shape [batch, classes].
      sparsemax: `sparsemax(logits)`.
      labels: Probabilities of the same shape.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "sparsemax_loss"):
        logits = tf.convert_to_tensor(logits)
        found = tf.convert_to_tensor(sparsemax)
        labels = tf.cast(labels, logits.dtype)
        # For kept classes logits - found is the threshold.
        kept = tf.where(found > 0, logits**2 - (logits - found) ** 2, tf.zeros_like(logits))
        return tf.reduce_sum(0.5 * kept - labels * (logits - 0.5 * labels), -1)
