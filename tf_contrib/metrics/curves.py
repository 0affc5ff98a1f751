"""Metrics that return the points of a curve."""

from typing import NamedTuple

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.counting import (
    OUTCOMES,
    count_outcomes,
    make_thresholds,
)
from tf_contrib.metrics.variables import (
    add_to_collections,
    compute_over_replicas,
    metric_variable,
)

_EPSILON = 1e-7
_DEFAULT_THRESHOLDS = 201


def streaming_curve_points(
    labels: TensorLike | None = None,
    predictions: TensorLike | None = None,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Operation]:
    """Computes the points of a curve over evenly spaced thresholds.

    Args:
      labels: Booleans of any shape.
      predictions: Numbers from 0 to 1 of the same shape.
      weights: Weights of the labels.
      num_thresholds: Number of thresholds.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      curve: "ROC": false positive rate and recall; "PR": recall and precision.
      name: Name of the variable scope.

    Returns:
      The points, of shape [num_thresholds, 2], and the operation that adds a batch.

    Raises:
      ValueError: The curve is unknown.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")

    def compute(*totals: tf.Tensor) -> tf.Tensor:
        found, missed, right, wrong = (tf.convert_to_tensor(total) for total in totals)
        recall = (found + _EPSILON) / (found + missed + _EPSILON)
        if curve == "ROC":
            return tf.stack([wrong / (wrong + right + _EPSILON), recall], 1)
        return tf.stack([recall, (found + _EPSILON) / (found + wrong + _EPSILON)], 1)

    with tf.compat.v1.variable_scope(name, "curve_points"):
        counts = count_outcomes(labels, predictions, make_thresholds(num_thresholds), weights)
        totals = [metric_variable(key, num_thresholds) for key in OUTCOMES]
        updates = [
            total.assign_add(counts[key]) for key, total in zip(OUTCOMES, totals, strict=True)
        ]
        value = compute_over_replicas(compute, totals, metrics_collections)
        return value, add_to_collections(tf.group(*updates), updates_collections)


class PrecisionRecallData(NamedTuple):
    """Outcomes at each threshold, and what follows from them."""

    tp: tf.Tensor
    fp: tf.Tensor
    tn: tf.Tensor
    fn: tf.Tensor
    precision: tf.Tensor
    recall: tf.Tensor
    thresholds: tf.Tensor


def precision_recall_at_equal_thresholds(
    labels: tf.Tensor,
    predictions: tf.Tensor,
    weights: tf.Tensor | None = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, tf.Operation]:
    """Computes precision and recall at evenly spaced thresholds from 0 to 1.

    Args:
      labels: Booleans of any shape.
      predictions: Floats from 0 to 1 of the same shape.
      weights: Weights of the labels.
      num_thresholds: Number of thresholds; by default 201.
      use_locking: Unused.
      name: Name of the variable scope.

    Returns:
      The values, and the operation that adds a batch.
    """
    del use_locking
    count = _DEFAULT_THRESHOLDS if num_thresholds is None else num_thresholds
    default = "precision_recall_at_equal_thresholds"
    with tf.compat.v1.variable_scope(name, default):
        dtype = predictions.dtype
        share = tf.ones_like(predictions) if weights is None else tf.cast(weights, dtype)
        is_true = tf.cast(labels, dtype)
        bucket = tf.reshape(tf.cast(tf.floor(predictions * (count - 1)), tf.int32), [-1])
        totals = []
        updates = []
        with tf.compat.v1.variable_scope("variables"):
            for key, part in (("tp_buckets", is_true), ("fp_buckets", 1 - is_true)):
                values = tf.cast(tf.reshape(part * share, [-1]), tf.float32)
                total = metric_variable(key, count)
                counted = tf.math.unsorted_segment_sum(values, bucket, count)
                updates.append(total.assign_add(counted))
                totals.append(total)
        above = [tf.cumsum(tf.convert_to_tensor(total), reverse=True) for total in totals]
        found, wrong = (tf.cast(one, dtype) for one in above)
        positive, negative = found[0], wrong[0]
        return PrecisionRecallData(
            found,
            wrong,
            negative - wrong,
            positive - found,
            tf.math.divide_no_nan(found, found + wrong),
            tf.math.divide_no_nan(found, positive),
            tf.linspace(tf.constant(0.0, dtype), 1.0, count),
        ), tf.group(*updates)
