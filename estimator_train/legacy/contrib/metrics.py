"""`tf.contrib.metrics`: metrics by their streaming names."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1.metrics

streaming_accuracy = _v1.accuracy
streaming_auc = _v1.auc
streaming_false_negatives = _v1.false_negatives
streaming_false_positives = _v1.false_positives
streaming_mean = _v1.mean
streaming_mean_absolute_error = _v1.mean_absolute_error
streaming_mean_cosine_distance = _v1.mean_cosine_distance
streaming_mean_iou = _v1.mean_iou
streaming_mean_relative_error = _v1.mean_relative_error
streaming_mean_squared_error = _v1.mean_squared_error
streaming_mean_tensor = _v1.mean_tensor
streaming_percentage_less = _v1.percentage_below
streaming_precision = _v1.precision
streaming_recall = _v1.recall
streaming_recall_at_k = _v1.recall_at_k
streaming_root_mean_squared_error = _v1.root_mean_squared_error
streaming_sparse_precision_at_k = _v1.precision_at_k
streaming_true_negatives = _v1.true_negatives
streaming_true_positives = _v1.true_positives
confusion_matrix = tf.math.confusion_matrix


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions that equal their labels, of one batch."""
    hits = tf.cast(tf.equal(predictions, labels), tf.float32)
    if weights is None:
        return tf.reduce_mean(hits, name=name)
    weights = tf.cast(weights, tf.float32)
    return tf.divide(tf.reduce_sum(hits * weights), tf.reduce_sum(weights), name=name)


def aggregate_metrics(*pairs: Any) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics."""
    values, updates = zip(*pairs, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of several metrics, by their names."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The best F1 score over evenly spread thresholds.

    Args:
      labels: True or false, of any shape.
      predictions: Numbers from 0 to 1, of the same shape.
      weights: Of each label.
      num_thresholds: The number of thresholds.
      metrics_collections: Collections for the value.
      updates_collections: Collections for the update.
      name: Name of the variables' scope.

    Returns:
      The value, and the operation that takes a batch in.
    """
    margin = 1e-7
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    thresholds = [-margin, *inner, 1.0 + margin]
    with tf.compat.v1.variable_scope(name, "f1"):
        counts = [
            metric(labels, predictions, thresholds, weights)
            for metric in (
                _v1.true_positives_at_thresholds,
                _v1.false_positives_at_thresholds,
                _v1.false_negatives_at_thresholds,
            )
        ]

    def best(hits: tf.Tensor, wrong: tf.Tensor, missed: tf.Tensor) -> tf.Tensor:
        return tf.reduce_max(tf.math.divide_no_nan(2 * hits, 2 * hits + wrong + missed))

    value, update = best(*(c[0] for c in counts)), best(*(c[1] for c in counts))
    _collect(value, metrics_collections)
    _collect(update, updates_collections)
    return value, update


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The covariance of predictions and labels over all batches; see `f1_score`."""
    with tf.compat.v1.variable_scope(name, "covariance"):
        pairs = _moments(predictions, labels, weights)
    value, update = (_covariance(*(p[i] for p in pairs)) for i in (0, 1))
    _collect(value, metrics_collections)
    _collect(update, updates_collections)
    return value, update


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The correlation of predictions and labels over all batches; see `f1_score`."""
    with tf.compat.v1.variable_scope(name, "pearson_r"):
        x, y, xy, xx, yy = _moments(predictions, labels, weights, squares=True)

    def correlation(i: int) -> tf.Tensor:
        spread = tf.sqrt((xx[i] - x[i] ** 2) * (yy[i] - y[i] ** 2))
        return tf.math.divide_no_nan(_covariance(x[i], y[i], xy[i]), spread)

    value, update = correlation(0), correlation(1)
    _collect(value, metrics_collections)
    _collect(update, updates_collections)
    return value, update


def _moments(predictions: Any, labels: Any, weights: Any, squares: bool = False) -> list[Any]:
    """Streaming means of both, of their product, and of their squares."""
    x, y = tf.cast(predictions, tf.float64), tf.cast(labels, tf.float64)
    products = [x, y, x * y, *([x * x, y * y] if squares else [])]
    pairs = [_v1.mean(product, weights) for product in products]
    return [tuple(tf.cast(part, tf.float32) for part in pair) for pair in pairs]


def _covariance(x: tf.Tensor, y: tf.Tensor, xy: tf.Tensor) -> tf.Tensor:
    return xy - x * y


def _collect(tensor: tf.Tensor, collections: Any) -> None:
    for collection in collections or ():
        tf.compat.v1.add_to_collection(collection, tensor)
