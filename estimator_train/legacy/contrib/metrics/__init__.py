"""`tf.contrib.metrics`: today's metrics by their streaming names, predictions before labels."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.metrics.counting import count, f1_score
from estimator_train.legacy.contrib.metrics.moments import (
    streaming_covariance,
    streaming_pearson_correlation,
)

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "confusion_matrix",
    "count",
    "f1_score",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_covariance",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positives",
    "streaming_false_positives_at_thresholds",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_pearson_correlation",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]

_metrics = tf.compat.v1.metrics
confusion_matrix = tf.compat.v1.confusion_matrix
Metric = Callable[..., tuple[Any, Any]]


def _turned(metric: Metric) -> Metric:
    """The metric with its first two arguments in the other order."""

    @functools.wraps(metric)
    def predictions_first(predictions: Any, labels: Any, *others: Any, **options: Any) -> Any:
        return metric(labels, predictions, *others, **options)

    signature = inspect.signature(metric)
    labels, predictions, *others = signature.parameters.values()
    turned = signature.replace(parameters=[predictions, labels, *others])
    vars(predictions_first)["__signature__"] = turned
    return predictions_first


streaming_mean = _metrics.mean
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below
streaming_accuracy = _turned(_metrics.accuracy)
streaming_auc = _turned(_metrics.auc)
streaming_false_negatives = _turned(_metrics.false_negatives)
streaming_false_negatives_at_thresholds = _turned(_metrics.false_negatives_at_thresholds)
streaming_false_positives = _turned(_metrics.false_positives)
streaming_false_positives_at_thresholds = _turned(_metrics.false_positives_at_thresholds)
streaming_mean_absolute_error = _turned(_metrics.mean_absolute_error)
streaming_mean_cosine_distance = _turned(_metrics.mean_cosine_distance)
streaming_mean_iou = _turned(_metrics.mean_iou)
streaming_mean_relative_error = _turned(_metrics.mean_relative_error)
streaming_mean_squared_error = _turned(_metrics.mean_squared_error)
streaming_precision = _turned(_metrics.precision)
streaming_precision_at_thresholds = _turned(_metrics.precision_at_thresholds)
streaming_recall = _turned(_metrics.recall)
streaming_recall_at_thresholds = _turned(_metrics.recall_at_thresholds)
streaming_root_mean_squared_error = _turned(_metrics.root_mean_squared_error)
streaming_sensitivity_at_specificity = _turned(_metrics.sensitivity_at_specificity)
streaming_sparse_average_precision_at_k = _turned(_metrics.average_precision_at_k)
streaming_sparse_precision_at_k = _turned(_metrics.precision_at_k)
streaming_sparse_recall_at_k = _turned(_metrics.recall_at_k)
streaming_specificity_at_sensitivity = _turned(_metrics.specificity_at_sensitivity)
streaming_true_negatives = _turned(_metrics.true_negatives)
streaming_true_negatives_at_thresholds = _turned(_metrics.true_negatives_at_thresholds)
streaming_true_positives = _turned(_metrics.true_positives)
streaming_true_positives_at_thresholds = _turned(_metrics.true_positives_at_thresholds)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The share of labels, one an example, that are among the k best predictions."""
    hits = tf.cast(tf.math.in_top_k(labels, predictions, k), tf.float32)
    collections = (metrics_collections, updates_collections)
    return _metrics.mean(hits, weights, *collections, name or f"recall_at_{k}")


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The share of the predicted classes that are labels; see `tf.metrics.precision_at_top_k`."""
    given = (None, class_id, weights, metrics_collections, updates_collections, name)
    return _metrics.precision_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *given)


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The share of labels that are predicted; see `tf.metrics.recall_at_top_k`."""
    given = (None, class_id, weights, metrics_collections, updates_collections, name)
    return _metrics.recall_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *given)


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions that equal their labels, of one batch.

    Raises:
      ValueError: Labels are not booleans, integers or strings, or predictions of another type.
    """
    predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(f"labels must be booleans, integers or strings, are {labels.dtype}.")
    if predictions.dtype != labels.dtype:
        raise ValueError(f"predictions are {predictions.dtype}, labels {labels.dtype}.")
    hits = tf.cast(tf.equal(predictions, labels), tf.float32)
    if weights is None:
        return tf.reduce_mean(hits, name=name)
    weights = tf.cast(weights, tf.float32)
    return tf.divide(tf.reduce_sum(hits * weights), tf.reduce_sum(weights), name=name)


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics.

    Raises:
      ValueError: There are none.
    """
    if not value_update_tuples:
        raise ValueError("There must be at least one metric.")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of several metrics, by their names."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}
