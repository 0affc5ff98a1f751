"""`tf.contrib.metrics`: metrics by their streaming names."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.metrics.counting import count, f1_score
from estimator_train.legacy.contrib.metrics.moments import (
    streaming_covariance,
    streaming_pearson_correlation,
)
from estimator_train.legacy.contrib.metrics.streaming import (
    sparse_recall_at_top_k,
    streaming_accuracy,
    streaming_auc,
    streaming_false_negatives,
    streaming_false_negatives_at_thresholds,
    streaming_false_positives,
    streaming_false_positives_at_thresholds,
    streaming_mean,
    streaming_mean_absolute_error,
    streaming_mean_cosine_distance,
    streaming_mean_iou,
    streaming_mean_relative_error,
    streaming_mean_squared_error,
    streaming_mean_tensor,
    streaming_percentage_less,
    streaming_precision,
    streaming_precision_at_thresholds,
    streaming_recall,
    streaming_recall_at_k,
    streaming_recall_at_thresholds,
    streaming_root_mean_squared_error,
    streaming_sensitivity_at_specificity,
    streaming_sparse_average_precision_at_k,
    streaming_sparse_precision_at_k,
    streaming_sparse_precision_at_top_k,
    streaming_sparse_recall_at_k,
    streaming_specificity_at_sensitivity,
    streaming_true_negatives,
    streaming_true_negatives_at_thresholds,
    streaming_true_positives,
    streaming_true_positives_at_thresholds,
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

confusion_matrix = tf.compat.v1.confusion_matrix


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
