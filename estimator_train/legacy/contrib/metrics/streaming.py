"""Today's metrics with predictions before labels, as they once were."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1.metrics
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


streaming_mean = _v1.mean
streaming_mean_tensor = _v1.mean_tensor
streaming_percentage_less = _v1.percentage_below
streaming_accuracy = _turned(_v1.accuracy)
streaming_auc = _turned(_v1.auc)
streaming_false_negatives = _turned(_v1.false_negatives)
streaming_false_negatives_at_thresholds = _turned(_v1.false_negatives_at_thresholds)
streaming_false_positives = _turned(_v1.false_positives)
streaming_false_positives_at_thresholds = _turned(_v1.false_positives_at_thresholds)
streaming_mean_absolute_error = _turned(_v1.mean_absolute_error)
streaming_mean_cosine_distance = _turned(_v1.mean_cosine_distance)
streaming_mean_iou = _turned(_v1.mean_iou)
streaming_mean_relative_error = _turned(_v1.mean_relative_error)
streaming_mean_squared_error = _turned(_v1.mean_squared_error)
streaming_precision = _turned(_v1.precision)
streaming_precision_at_thresholds = _turned(_v1.precision_at_thresholds)
streaming_recall = _turned(_v1.recall)
streaming_recall_at_thresholds = _turned(_v1.recall_at_thresholds)
streaming_root_mean_squared_error = _turned(_v1.root_mean_squared_error)
streaming_sensitivity_at_specificity = _turned(_v1.sensitivity_at_specificity)
streaming_sparse_average_precision_at_k = _turned(_v1.average_precision_at_k)
streaming_sparse_precision_at_k = _turned(_v1.precision_at_k)
streaming_sparse_recall_at_k = _turned(_v1.recall_at_k)
streaming_specificity_at_sensitivity = _turned(_v1.specificity_at_sensitivity)
streaming_true_negatives = _turned(_v1.true_negatives)
streaming_true_negatives_at_thresholds = _turned(_v1.true_negatives_at_thresholds)
streaming_true_positives = _turned(_v1.true_positives)
streaming_true_positives_at_thresholds = _turned(_v1.true_positives_at_thresholds)


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
    return _v1.mean(hits, weights, *collections, name or f"recall_at_{k}")


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
    return _v1.precision_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *given)


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
    return _v1.recall_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *given)
