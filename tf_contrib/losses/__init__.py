"""Stand-in for `tf.contrib.losses`: losses whose predictions come before the labels.

Weights of a lower rank than the losses belong to the first dimensions, for example to examples.
"""

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.losses import metric_learning as metric_learning

_v1 = tf.compat.v1.losses
add_loss = _v1.add_loss
get_losses = _v1.get_losses
get_regularization_losses = _v1.get_regularization_losses


def absolute_difference(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> tf.Tensor:
    """See `tf.losses.absolute_difference`."""
    return _v1.absolute_difference(
        labels, predictions, _expand_weights(predictions, weights), scope
    )


def compute_weighted_loss(
    losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> tf.Tensor:
    """See `tf.losses.compute_weighted_loss`."""
    return _v1.compute_weighted_loss(losses, _expand_weights(losses, weights), scope)


def cosine_distance(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> tf.Tensor:
    """See `tf.losses.cosine_distance`."""
    chosen_axis = dim if axis is None else axis
    return _v1.cosine_distance(
        labels, predictions, chosen_axis, _expand_weights(predictions, weights), scope
    )


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> tf.Tensor:
    """See `tf.losses.get_total_loss`."""
    return _v1.get_total_loss(add_regularization_losses, name)


def hinge_loss(
    logits: TensorLike, labels: TensorLike | None = None, scope: str | None = None
) -> tf.Tensor:
    """Computes the hinge loss of each value, without a mean and without a collection."""
    with tf.name_scope(scope or "hinge_loss"):
        signs = 2.0 * tf.cast(labels, tf.float32) - 1.0
        return tf.nn.relu(1.0 - signs * logits)


def log_loss(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> tf.Tensor:
    """See `tf.losses.log_loss`."""
    return _v1.log_loss(labels, predictions, _expand_weights(predictions, weights), epsilon, scope)


def mean_pairwise_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> tf.Tensor:
    """Sums over examples the mean squared error of all pairwise differences of an example's values.

    Unlike `tf.losses.mean_pairwise_squared_error`, it pairs a value with itself too, and does not
    average over the examples.
    """
    with tf.name_scope(scope or "mean_pairwise_squared_error"):
        differences = tf.convert_to_tensor(predictions) - tf.cast(labels, predictions.dtype)
        _, variance = tf.nn.moments(tf.reshape(differences, [tf.shape(differences)[0], -1]), [1])
        loss = tf.reduce_sum(2.0 * variance * weights)
        add_loss(loss)
        return loss


def mean_squared_error(
    predictions: TensorLike,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> tf.Tensor:
    """See `tf.losses.mean_squared_error`."""
    return _v1.mean_squared_error(labels, predictions, _expand_weights(predictions, weights), scope)


def sigmoid_cross_entropy(
    logits: TensorLike,
    multi_class_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> tf.Tensor:
    """See `tf.losses.sigmoid_cross_entropy`."""
    weights = _expand_weights(logits, weights)
    return _v1.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(
    logits: TensorLike,
    onehot_labels: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> tf.Tensor:
    """See `tf.losses.softmax_cross_entropy`."""
    return _v1.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(
    logits: TensorLike, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> tf.Tensor:
    """See `tf.losses.sparse_softmax_cross_entropy`."""
    rows = tf.reshape(labels, tf.shape(logits)[:1])
    return _v1.sparse_softmax_cross_entropy(rows, logits, weights, scope)


def _expand_weights(losses: TensorLike, weights: TensorLike) -> tf.Tensor:
    """Appends dimensions to weights up to the rank of the losses."""
    weights, rank = tf.convert_to_tensor(weights), tf.convert_to_tensor(losses).shape.rank
    missing = rank - weights.shape.rank
    if not weights.shape.rank or missing <= 0:
        return weights
    return tf.reshape(weights, tf.concat([tf.shape(weights), [1] * missing], 0))
