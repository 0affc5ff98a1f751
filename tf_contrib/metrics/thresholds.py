"""Metrics of predictions that are compared with several thresholds."""

from collections.abc import Sequence

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.counting import (
    OUTCOMES,
    create_outcome_metric,
    make_thresholds,
)

_EPSILON = 1e-7


def precision_at_recall(
    labels: TensorLike,
    predictions: TensorLike,
    target_recall: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the precision at the threshold whose recall is nearest to a target.

    Args:
      labels: Booleans of any shape.
      predictions: Numbers from 0 to 1 of the same shape.
      target_recall: The recall, from 0 to 1.
      weights: Weights of the labels.
      num_thresholds: Number of evenly spaced thresholds.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      name: Name of the variable scope.

    Returns:
      The value and the operation that adds a batch.

    Raises:
      ValueError: The target is not between 0 and 1.
    """
    _check_share("target_recall", target_recall)

    def compute(*totals: tf.Tensor) -> tf.Tensor:
        found, missed, _, wrong = totals
        index = tf.argmin(tf.abs(_divide(found, missed) - target_recall))
        return ((found + _EPSILON) / (found + wrong + _EPSILON))[index]

    with tf.compat.v1.variable_scope(name, "precision_at_recall"):
        return create_outcome_metric(
            compute,
            OUTCOMES,
            (labels, predictions, make_thresholds(num_thresholds), weights),
            metrics_collections,
            updates_collections,
        )


def recall_at_precision(
    labels: TensorLike,
    predictions: TensorLike,
    precision: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the recall at the threshold whose precision is nearest to a target.

    Arguments that are not listed are those of `precision_at_recall`.

    Args:
      labels: Booleans of any shape.
      predictions: Numbers from 0 to 1 of the same shape.
      precision: The precision, from 0 to 1.
      weights: Weights of the labels.
      num_thresholds: Number of evenly spaced thresholds.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      name: Name of the variable scope.
      strict_mode: Whether the value is 0 if no threshold has the precision.

    Raises:
      ValueError: The target is not between 0 and 1.
    """
    _check_share("precision", precision)

    def compute(*totals: tf.Tensor) -> tf.Tensor:
        found, missed, _, wrong = totals
        precisions = _divide(found, wrong)
        nearest = _divide(found, missed)[tf.argmin(tf.abs(precisions - precision))]
        if not strict_mode:
            return nearest
        return tf.where(tf.reduce_any(precisions >= precision), nearest, 0.0)

    with tf.compat.v1.variable_scope(name, "recall_at_precision"):
        return create_outcome_metric(
            compute,
            OUTCOMES,
            (labels, predictions, make_thresholds(num_thresholds), weights),
            metrics_collections,
            updates_collections,
        )


def streaming_false_positive_rate_at_thresholds(
    predictions: TensorLike,
    labels: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the share of negative labels above each threshold; see `precision_at_recall`."""
    with tf.compat.v1.variable_scope(name, "false_positive_rate_at_thresholds"):
        return create_outcome_metric(
            lambda right, wrong: _divide(wrong, right),
            ("true_negatives", "false_positives"),
            (labels, predictions, thresholds, weights),
            metrics_collections,
            updates_collections,
        )


def streaming_false_negative_rate_at_thresholds(
    predictions: TensorLike,
    labels: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the share of positive labels below each threshold; see `precision_at_recall`."""
    with tf.compat.v1.variable_scope(name, "false_negative_rate_at_thresholds"):
        return create_outcome_metric(
            lambda found, missed: _divide(missed, found),
            ("true_positives", "false_negatives"),
            (labels, predictions, thresholds, weights),
            metrics_collections,
            updates_collections,
        )


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value}.")


def _divide(counted: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    """Returns the share of the first count in both."""
    return counted / (counted + others + _EPSILON)
