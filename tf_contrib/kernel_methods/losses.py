"""Hinge loss of several classes."""

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1


def sparse_multiclass_hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _v1.GraphKeys.LOSSES,
    reduction: str = _v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> tf.Tensor:
    """Computes the hinge loss of Crammer and Singer (2001).

    The loss of an example is max(0, 1 + the greatest other logit - the logit of its class).

    Args:
      labels: Classes, int32 or int64 of shape [batch] or [batch, 1].
      logits: Floats of shape [batch, classes].
      weights: Weights of the examples, a scalar or of shape [batch].
      scope: Name scope.
      loss_collection: Collection of the loss.
      reduction: One of `tf.losses.Reduction`.

    Raises:
      ValueError: labels or logits have the wrong dtype or shape.
    """
    with tf.name_scope(scope or "sparse_multiclass_hinge_loss"):
        labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
        if labels.dtype not in (tf.int32, tf.int64):
            raise ValueError(
                f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64"
            )
        if logits.shape.rank != 2:
            raise ValueError(
                "logits should have rank 2 ([batch_size, num_classes]). Given rank is "
                f"{logits.shape.rank}"
            )
        classes = tf.shape(logits)[1]
        is_label = tf.one_hot(tf.reshape(labels, [-1]), classes, True, False, dtype=tf.bool)
        own = tf.reduce_sum(tf.where(is_label, logits, tf.zeros_like(logits)), 1)
        others = tf.where(is_label, tf.fill(tf.shape(logits), logits.dtype.min), logits)
        losses = tf.nn.relu(1 + tf.reduce_max(others, 1) - own)
        return _v1.losses.compute_weighted_loss(
            losses, weights, None, loss_collection, reduction=reduction
        )
