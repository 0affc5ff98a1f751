"""`tf.contrib.losses`: losses by their older place, predictions before labels.

Weights of a lower rank than the losses are those of the first dimensions: of examples.
"""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.losses import metric_learning as metric_learning

_v1 = tf.compat.v1.losses
add_loss = _v1.add_loss
get_losses = _v1.get_losses
get_regularization_losses = _v1.get_regularization_losses


def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """See `tf.losses.absolute_difference`."""
    return _v1.absolute_difference(labels, predictions, _for(predictions, weights), scope)


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: Any = None) -> Any:
    """See `tf.losses.compute_weighted_loss`."""
    return _v1.compute_weighted_loss(losses, _for(losses, weights), scope)


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: Any = None,
    dim: int | None = None,
) -> Any:
    """See `tf.losses.cosine_distance`."""
    chosen = dim if axis is None else axis
    return _v1.cosine_distance(labels, predictions, chosen, _for(predictions, weights), scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """See `tf.losses.get_total_loss`."""
    return _v1.get_total_loss(add_regularization_losses, name)


def hinge_loss(logits: Any, labels: Any = None, scope: Any = None) -> Any:
    """The hinge loss of each value: this one takes no mean, and is in no collection."""
    with tf.name_scope(scope or "hinge_loss"):
        signs = 2.0 * tf.cast(labels, tf.float32) - 1.0
        return tf.nn.relu(1.0 - signs * logits)


def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
) -> Any:
    """See `tf.losses.log_loss`."""
    return _v1.log_loss(labels, predictions, _for(predictions, weights), epsilon, scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """How much differences of pairs of an example's values differ, squared: their mean, summed up.

    A value makes a pair with itself too; `tf.losses.mean_pairwise_squared_error` leaves that out,
    and takes the mean over the examples.
    """
    with tf.name_scope(scope or "mean_pairwise_squared_error"):
        apart = tf.convert_to_tensor(predictions) - tf.cast(labels, predictions.dtype)
        _, variance = tf.nn.moments(tf.reshape(apart, [tf.shape(apart)[0], -1]), [1])
        loss = tf.reduce_sum(2.0 * variance * weights)
        add_loss(loss)
        return loss


def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None
) -> Any:
    """See `tf.losses.mean_squared_error`."""
    return _v1.mean_squared_error(labels, predictions, _for(predictions, weights), scope)


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Any:
    """See `tf.losses.sigmoid_cross_entropy`."""
    weights = _for(logits, weights)
    return _v1.sigmoid_cross_entropy(multi_class_labels, logits, weights, label_smoothing, scope)


def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Any:
    """See `tf.losses.softmax_cross_entropy`."""
    return _v1.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: Any = None
) -> Any:
    """See `tf.losses.sparse_softmax_cross_entropy`."""
    rows = tf.reshape(labels, tf.shape(logits)[:1])
    return _v1.sparse_softmax_cross_entropy(rows, logits, weights, scope)


def _for(losses: Any, weights: Any) -> Any:
    """Weights with the rank of what they are for."""
    weights, rank = tf.convert_to_tensor(weights), tf.convert_to_tensor(losses).shape.rank
    missing = rank - weights.shape.rank
    if not weights.shape.rank or missing <= 0:
        return weights
    return tf.reshape(weights, tf.concat([tf.shape(weights), [1] * missing], 0))
