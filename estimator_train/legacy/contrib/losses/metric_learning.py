"""`tf.contrib.losses.metric_learning`: losses of embeddings by their pairwise distances.

Shapes: labels (batch,), embeddings (batch, size), best of length one.
"""

from typing import Any

import tensorflow as tf

__all__ = [
    "contrastive_loss",
    "lifted_struct_loss",
    "npairs_loss",
    "pairwise_distance",
    "triplet_semihard_loss",
]


def pairwise_distance(feature: Any, squared: bool = False) -> tf.Tensor:
    """Euclidean distances, shape (batch, batch), zero on the diagonal."""
    feature = tf.convert_to_tensor(feature)
    squares = tf.reduce_sum(tf.square(feature), 1)
    products = tf.matmul(feature, feature, transpose_b=True)
    distances = tf.maximum(squares[:, None] + squares[None] - 2.0 * products, 0.0)
    if not squared:
        # The root has no gradient at zero.
        is_zero = tf.cast(distances <= 0.0, distances.dtype)
        distances = tf.sqrt(distances + is_zero * 1e-16) * (1.0 - is_zero)
    return tf.linalg.set_diag(distances, tf.zeros_like(squares))


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> tf.Tensor:
    """Pairs of label 1 are pulled together, those of label 0 pushed a margin apart."""
    distances = tf.sqrt(
        tf.reduce_sum(tf.math.squared_difference(embeddings_anchor, embeddings_positive), 1)
    )
    labels = tf.cast(labels, distances.dtype)
    apart = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(labels * tf.square(distances) + (1.0 - labels) * apart)


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> tf.Tensor:
    """The mean loss of triplets, the negative of each the nearest one beyond its positive.

    Where no negative is farther than the positive, the farthest negative is taken.
    """
    distances = pairwise_distance(embeddings, squared=True)
    same = _same(labels)
    # Indices of what follows: anchor, positive, negative.
    farther = ~same[:, None, :] & (distances[:, None, :] > distances[:, :, None])
    infinite = tf.fill(tf.shape(farther), distances.dtype.max)
    among = tf.broadcast_to(distances[:, None, :], tf.shape(farther))
    nearest = tf.reduce_min(tf.where(farther, among, infinite), 2)
    lowest = tf.where(same, tf.zeros_like(distances), distances)
    farthest = tf.reduce_max(lowest, 1, keepdims=True) + tf.zeros_like(distances)
    negatives = tf.where(tf.reduce_any(farther, 2), nearest, farthest)
    is_pair = tf.cast(same, distances.dtype)
    is_pair = tf.linalg.set_diag(is_pair, tf.zeros_like(is_pair[0]))
    losses = tf.maximum((margin + distances - negatives) * is_pair, 0.0)
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.reduce_sum(is_pair))


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> tf.Tensor:
    """Cross entropy of the products of anchors and positives, and a share of their lengths."""
    del print_losses
    lengths = sum(
        tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1))
        for embeddings in (embeddings_anchor, embeddings_positive)
    )
    products = tf.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    same = tf.cast(_same(labels), products.dtype)
    targets = same / tf.reduce_sum(same, 1, keepdims=True)
    entropy = tf.nn.softmax_cross_entropy_with_logits(targets, products)
    return tf.reduce_mean(entropy) + 0.25 * reg_lambda * lengths


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> tf.Tensor:
    """Each pair of one label against all negatives of both of its members."""
    distances = pairwise_distance(embeddings)
    same = _same(labels)
    lowest = tf.fill(tf.shape(distances), distances.dtype.min)
    negatives = tf.reduce_logsumexp(tf.where(same, lowest, margin - distances), 1)
    both = tf.reduce_logsumexp(tf.stack(_outer(negatives), -1), -1)
    is_pair = tf.cast(same, distances.dtype)
    is_pair = tf.linalg.set_diag(is_pair, tf.zeros_like(is_pair[0]))
    losses = tf.square(tf.maximum(both + distances, 0.0)) * is_pair
    return tf.math.divide_no_nan(tf.reduce_sum(losses), 2.0 * tf.reduce_sum(is_pair))


def _outer(values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    zeros = tf.zeros([tf.size(values), tf.size(values)], values.dtype)
    return zeros + values[:, None], zeros + values[None]


def _same(labels: Any) -> tf.Tensor:
    labels = tf.reshape(labels, [-1])
    return tf.equal(labels[:, None], labels[None])
