"""`tf.contrib.losses`: losses by their older place, predictions before labels."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib import metric_learning as metric_learning

_v1 = tf.compat.v1.losses
add_loss = _v1.add_loss
get_losses = _v1.get_losses
get_regularization_losses = _v1.get_regularization_losses
get_total_loss = _v1.get_total_loss


def absolute_difference(
    predictions: Any, labels: Any, weights: Any = 1.0, scope: Any = None
) -> Any:
    """See `tf.losses.absolute_difference`."""
    return _v1.absolute_difference(labels, predictions, weights, scope)


def hinge_loss(logits: Any, labels: Any, scope: Any = None) -> Any:
    """See `tf.losses.hinge_loss`."""
    return _v1.hinge_loss(labels, logits, scope=scope)


def log_loss(
    predictions: Any, labels: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: Any = None
) -> Any:
    """See `tf.losses.log_loss`."""
    return _v1.log_loss(labels, predictions, weights, epsilon, scope)


def mean_squared_error(predictions: Any, labels: Any, weights: Any = 1.0, scope: Any = None) -> Any:
    """See `tf.losses.mean_squared_error`."""
    return _v1.mean_squared_error(labels, predictions, weights, scope)


def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
) -> Any:
    """See `tf.losses.sigmoid_cross_entropy`."""
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
    return _v1.sparse_softmax_cross_entropy(labels, logits, weights, scope)
