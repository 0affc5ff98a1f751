"""Metrics that count outcomes."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.variables import (
    add_to_collections,
    compute_over_replicas,
    metric_variable,
)

_MARGIN = 1e-7
OUTCOMES = ("true_positives", "false_negatives", "true_negatives", "false_positives")


def count(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Counts values, or sums their weights; see `f1_score` for the arguments."""
    with tf.compat.v1.variable_scope(name, "count"):
        total = metric_variable("count")
        values = tf.convert_to_tensor(values)
        weights = 1.0 if weights is None else tf.cast(weights, tf.float32)
        batch = tf.reduce_sum(tf.ones(tf.shape(values)) * weights)
        update = add_to_collections(total.assign_add(batch), updates_collections)
        return compute_over_replicas(tf.identity, [total], metrics_collections), update


def f1_score(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the best F1 score over evenly spaced thresholds.

    Args:
      labels: Booleans of any shape.
      predictions: Numbers from 0 to 1 of the same shape.
      weights: Weights of the labels.
      num_thresholds: Number of thresholds.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      name: Name of the variable scope.

    Returns:
      The value and the operation that adds a batch.
    """
    with tf.compat.v1.variable_scope(name, "f1"):
        return create_outcome_metric(
            _compute_best_f1,
            ("true_positives", "false_positives", "false_negatives"),
            (labels, predictions, make_thresholds(num_thresholds), weights),
            metrics_collections,
            updates_collections,
        )


def make_thresholds(count: int) -> list[float]:
    """Returns evenly spaced thresholds, the first below 0 and the last above 1."""
    inner = [(i + 1) / (count - 1) for i in range(count - 2)]
    return [-_MARGIN, *inner, 1.0 + _MARGIN]


def count_outcomes(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None,
) -> dict[str, tf.Tensor]:
    """Returns the counts of the four outcomes at each threshold, by name."""
    predictions = tf.cast(predictions, tf.float32)
    ones = tf.ones_like(predictions)
    weights = ones if weights is None else ones * tf.cast(weights, tf.float32)
    is_true = tf.cast(tf.cast(labels, tf.bool), tf.float32)
    true, false = (tf.reshape(one * weights, [1, -1]) for one in (is_true, 1 - is_true))
    is_positive = tf.reshape(predictions, [1, -1]) > tf.constant(thresholds)[:, None]
    positive = tf.cast(is_positive, tf.float32)
    counted = {
        "true_positives": positive * true,
        "false_negatives": (1 - positive) * true,
        "true_negatives": (1 - positive) * false,
        "false_positives": positive * false,
    }
    return {name: tf.reduce_sum(one, 1) for name, one in counted.items()}


def create_outcome_metric(
    compute: Callable[..., tf.Tensor],
    names: Sequence[str],
    batch: tuple[TensorLike, TensorLike, Sequence[float], TensorLike | None],
    metrics_collections: Collections | None,
    updates_collections: Collections | None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Creates variables of the named outcomes, and a metric that is computed from them.

    Args:
      compute: Function of the totals of the outcomes.
      names: Names of the outcomes.
      batch: The arguments of `count_outcomes`.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
    """

    def compute_from(*totals: tf.Tensor | tf.Variable) -> tf.Tensor:
        return compute(*map(tf.convert_to_tensor, totals))

    counts = count_outcomes(*batch)
    totals = [metric_variable(name, len(batch[2])) for name in names]
    updates = [total.assign_add(counts[name]) for name, total in zip(names, totals, strict=True)]
    value = compute_over_replicas(compute_from, totals, metrics_collections)
    return value, add_to_collections(compute_from(*updates), updates_collections)


def _compute_best_f1(hits: tf.Tensor, false_alarms: tf.Tensor, missed: tf.Tensor) -> tf.Tensor:
    return tf.reduce_max(tf.math.divide_no_nan(2 * hits, 2 * hits + false_alarms + missed))
