"""Stand-in for `tf.contrib.losses.metric_learning`: losses of the distances of embeddings.

Shapes: labels (batch,), embeddings (batch, size), preferably normalized to length 1.
"""

import tensorflow as tf

from tf_contrib._types import TensorLike

__all__ = [
    "contrastive_loss",
    "lifted_struct_loss",
    "npairs_loss",
    "pairwise_distance",
    "triplet_semihard_loss",
]


def pairwise_distance(feature: TensorLike, squared: bool = False) -> tf.Tensor:
    """Returns Euclidean distances, shape (batch, batch), with zeros on the diagonal."""
    feature = tf.convert_to_tensor(feature)
    squares = tf.reduce_sum(tf.square(feature), 1)
    products = tf.matmul(feature, feature, transpose_b=True)
    distances = tf.maximum(squares[:, None] + squares[None] - 2.0 * products, 0.0)
    if not squared:
        # The square root has no gradient at zero.
        is_zero = tf.cast(distances <= 0.0, distances.dtype)
        distances = tf.sqrt(distances + is_zero * 1e-16) * (1.0 - is_zero)
    return tf.linalg.set_diag(distances, tf.zeros_like(squares))


def contrastive_loss(
    labels: TensorLike,
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    margin: float = 1.0,
) -> tf.Tensor:
    """Pulls pairs of label 1 together and pushes pairs of label 0 apart by a margin."""
    distances = tf.sqrt(
        tf.reduce_sum(tf.math.squared_difference(embeddings_anchor, embeddings_positive), 1)
    )
    labels = tf.cast(labels, distances.dtype)
    separation = tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(labels * tf.square(distances) + (1.0 - labels) * separation)


def triplet_semihard_loss(
    labels: TensorLike, embeddings: TensorLike, margin: float = 1.0
) -> tf.Tensor:
    """Computes the triplet loss with the nearest negative that is farther than the positive.

    If no negative is farther than the positive, the farthest negative is used.
    """
    distances = pairwise_distance(embeddings, squared=True)
    same = _compare_labels(labels)
    # Axes of the tensors below: anchor, positive, negative.
    farther = ~same[:, None, :] & (distances[:, None, :] > distances[:, :, None])
    infinite = tf.fill(tf.shape(farther), distances.dtype.max)
    candidates = tf.broadcast_to(distances[:, None, :], tf.shape(farther))
    nearest = tf.reduce_min(tf.where(farther, candidates, infinite), 2)
    negative_distances = tf.where(same, tf.zeros_like(distances), distances)
    farthest = tf.reduce_max(negative_distances, 1, keepdims=True) + tf.zeros_like(distances)
    negatives = tf.where(tf.reduce_any(farther, 2), nearest, farthest)
    is_pair = tf.cast(same, distances.dtype)
    is_pair = tf.linalg.set_diag(is_pair, tf.zeros_like(is_pair[0]))
    losses = tf.maximum((margin + distances - negatives) * is_pair, 0.0)
    return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.reduce_sum(is_pair))


def npairs_loss(
    labels: TensorLike,
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> tf.Tensor:
    """Computes the cross entropy of the products of anchors and positives, with an L2 penalty."""
    del print_losses
    lengths = sum(
        tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1))
        for embeddings in (embeddings_anchor, embeddings_positive)
    )
    products = tf.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    same = tf.cast(_compare_labels(labels), products.dtype)
    targets = same / tf.reduce_sum(same, 1, keepdims=True)
    entropy = tf.nn.softmax_cross_entropy_with_logits(targets, products)
    return tf.reduce_mean(entropy) + 0.25 * reg_lambda * lengths


def lifted_struct_loss(
    labels: TensorLike, embeddings: TensorLike, margin: float = 1.0
) -> tf.Tensor:
    """Compares each pair of one label with all negatives of both embeddings."""
    distances = pairwise_distance(embeddings)
    same = _compare_labels(labels)
    lowest = tf.fill(tf.shape(distances), distances.dtype.min)
    negatives = tf.reduce_logsumexp(tf.where(same, lowest, margin - distances), 1)
    pair_negatives = tf.reduce_logsumexp(tf.stack(_pair_values(negatives), -1), -1)
    is_pair = tf.cast(same, distances.dtype)
    is_pair = tf.linalg.set_diag(is_pair, tf.zeros_like(is_pair[0]))
    losses = tf.square(tf.maximum(pair_negatives + distances, 0.0)) * is_pair
    return tf.math.divide_no_nan(tf.reduce_sum(losses), 2.0 * tf.reduce_sum(is_pair))


def _pair_values(values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    zeros = tf.zeros([tf.size(values), tf.size(values)], values.dtype)
    return zeros + values[:, None], zeros + values[None]


def _compare_labels(labels: TensorLike) -> tf.Tensor:
    labels = tf.reshape(labels, [-1])
    return tf.equal(labels[:, None], labels[None])
