"""Stand-in for `tf.contrib.metrics`: streaming metrics whose predictions come before the labels."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.agreement import (
    cohen_kappa,
    streaming_false_negative_rate,
    streaming_false_positive_rate,
)
from tf_contrib.metrics.concatenation import streaming_concat
from tf_contrib.metrics.counting import count, f1_score
from tf_contrib.metrics.curves import (
    precision_recall_at_equal_thresholds,
    streaming_curve_points,
)
from tf_contrib.metrics.moments import (
    streaming_covariance,
    streaming_pearson_correlation,
)
from tf_contrib.metrics.thresholds import (
    precision_at_recall,
    recall_at_precision,
    streaming_false_negative_rate_at_thresholds,
    streaming_false_positive_rate_at_thresholds,
)

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "cohen_kappa",
    "confusion_matrix",
    "count",
    "f1_score",
    "precision_at_recall",
    "precision_recall_at_equal_thresholds",
    "recall_at_precision",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_concat",
    "streaming_covariance",
    "streaming_curve_points",
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
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


def _put_predictions_first(metric: Metric) -> Metric:
    """Returns a metric with its first two arguments swapped."""

    @functools.wraps(metric)
    def swap_and_call(
        predictions: TensorLike, labels: TensorLike, *others: Any, **options: Any
    ) -> tuple[Any, Any]:
        return metric(labels, predictions, *others, **options)

    signature = inspect.signature(metric)
    labels, predictions, *others = signature.parameters.values()
    reordered = signature.replace(parameters=[predictions, labels, *others])
    vars(swap_and_call)["__signature__"] = reordered
    return swap_and_call


streaming_mean = _metrics.mean
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below
streaming_accuracy = _put_predictions_first(_metrics.accuracy)
streaming_auc = _put_predictions_first(_metrics.auc)
streaming_false_negatives = _put_predictions_first(_metrics.false_negatives)
streaming_false_negatives_at_thresholds = _put_predictions_first(
    _metrics.false_negatives_at_thresholds
)
streaming_false_positives = _put_predictions_first(_metrics.false_positives)
streaming_false_positives_at_thresholds = _put_predictions_first(
    _metrics.false_positives_at_thresholds
)
streaming_mean_absolute_error = _put_predictions_first(_metrics.mean_absolute_error)
streaming_mean_cosine_distance = _put_predictions_first(_metrics.mean_cosine_distance)
streaming_mean_iou = _put_predictions_first(_metrics.mean_iou)
streaming_mean_relative_error = _put_predictions_first(_metrics.mean_relative_error)
streaming_mean_squared_error = _put_predictions_first(_metrics.mean_squared_error)
streaming_precision = _put_predictions_first(_metrics.precision)
streaming_precision_at_thresholds = _put_predictions_first(_metrics.precision_at_thresholds)
streaming_recall = _put_predictions_first(_metrics.recall)
streaming_recall_at_thresholds = _put_predictions_first(_metrics.recall_at_thresholds)
streaming_root_mean_squared_error = _put_predictions_first(_metrics.root_mean_squared_error)
streaming_sensitivity_at_specificity = _put_predictions_first(_metrics.sensitivity_at_specificity)
streaming_sparse_average_precision_at_k = _put_predictions_first(_metrics.average_precision_at_k)
streaming_sparse_precision_at_k = _put_predictions_first(_metrics.precision_at_k)
streaming_sparse_recall_at_k = _put_predictions_first(_metrics.recall_at_k)
streaming_specificity_at_sensitivity = _put_predictions_first(_metrics.specificity_at_sensitivity)
streaming_true_negatives = _put_predictions_first(_metrics.true_negatives)
streaming_true_negatives_at_thresholds = _put_predictions_first(
    _metrics.true_negatives_at_thresholds
)
streaming_true_positives = _put_predictions_first(_metrics.true_positives)
streaming_true_positives_at_thresholds = _put_predictions_first(
    _metrics.true_positives_at_thresholds
)


def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the share of examples whose label is among the k highest predictions."""
    hits = tf.cast(tf.math.in_top_k(labels, predictions, k), tf.float32)
    collections = (metrics_collections, updates_collections)
    return _metrics.mean(hits, weights, *collections, name or f"recall_at_{k}")


def streaming_sparse_precision_at_top_k(
    top_k_predictions: TensorLike,
    labels: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the share of predictions that are labels; see `tf.metrics.precision_at_top_k`."""
    arguments = (None, class_id, weights, metrics_collections, updates_collections, name)
    return _metrics.precision_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *arguments)


def sparse_recall_at_top_k(
    labels: TensorLike,
    top_k_predictions: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Computes the share of labels that are predicted; see `tf.metrics.recall_at_top_k`."""
    arguments = (None, class_id, weights, metrics_collections, updates_collections, name)
    return _metrics.recall_at_top_k(tf.cast(labels, tf.int64), top_k_predictions, *arguments)


def accuracy(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Returns the share of a batch's predictions that equal their labels.

    Raises:
      ValueError: Labels are not booleans, integers or strings, or predictions have another type.
    """
    predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(f"labels must be booleans, integers or strings, got {labels.dtype}.")
    if predictions.dtype != labels.dtype:
        raise ValueError(
            f"predictions must have the dtype of labels, {labels.dtype}, got {predictions.dtype}."
        )
    hits = tf.cast(tf.equal(predictions, labels), tf.float32)
    if weights is None:
        return tf.reduce_mean(hits, name=name)
    weights = tf.cast(weights, tf.float32)
    return tf.divide(tf.reduce_sum(hits * weights), tf.reduce_sum(weights), name=name)


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """Returns the values and the update operations of several metrics.

    Raises:
      ValueError: There are no metrics.
    """
    if not value_update_tuples:
        raise ValueError("There must be at least one metric.")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: Mapping[str, tuple[tf.Tensor, tf.Operation]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the values and the update operations of several metrics by name."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}
