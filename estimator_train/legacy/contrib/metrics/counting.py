"""Metrics that count."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.metrics.variables import (
    collected,
    metric_variable,
    over_replicas,
)

_MARGIN = 1e-7


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The number of values, or the sum of their weights; see `f1_score`."""
    with tf.compat.v1.variable_scope(name, "count"):
        total = metric_variable("count")
        values = tf.convert_to_tensor(values)
        weights = 1.0 if weights is None else tf.cast(weights, tf.float32)
        batch = tf.reduce_sum(tf.ones(tf.shape(values)) * weights)
        update = collected(total.assign_add(batch), updates_collections)
        return over_replicas(tf.identity, [total], metrics_collections), update


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
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    thresholds = [-_MARGIN, *inner, 1.0 + _MARGIN]
    with tf.compat.v1.variable_scope(name, "f1"):
        names = ("true_positives", "false_positives", "false_negatives")
        totals = [metric_variable(name, num_thresholds) for name in names]
        batch = _counts(labels, predictions, thresholds, weights)
        updates = [total.assign_add(one) for total, one in zip(totals, batch, strict=True)]
        value = over_replicas(_best_f1, totals, metrics_collections)
        return value, collected(_best_f1(*updates), updates_collections)


def _counts(
    labels: Any, predictions: Any, thresholds: list[float], weights: Any
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """True and false positives and false negatives of a batch at each threshold."""
    predictions = tf.cast(predictions, tf.float32)
    ones = tf.ones_like(predictions)
    weights = ones if weights is None else ones * tf.cast(weights, tf.float32)
    is_true = tf.cast(tf.cast(labels, tf.bool), tf.float32)
    true, false = (tf.reshape(one * weights, [1, -1]) for one in (is_true, 1 - is_true))
    found = tf.reshape(predictions, [1, -1]) > tf.constant(thresholds)[:, None]
    positive = tf.cast(found, tf.float32)
    sums = (positive * true, positive * false, (1 - positive) * true)
    hits, wrong, missed = (tf.reduce_sum(one, 1) for one in sums)
    return hits, wrong, missed


def _best_f1(hits: Any, wrong: Any, missed: Any) -> tf.Tensor:
    hits, wrong, missed = (tf.convert_to_tensor(one) for one in (hits, wrong, missed))
    return tf.reduce_max(tf.math.divide_no_nan(2 * hits, 2 * hits + wrong + missed))
