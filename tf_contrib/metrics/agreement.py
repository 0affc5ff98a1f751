"""Cohen's kappa, and rates of false answers."""

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.variables import (
    add_to_collections,
    compute_over_replicas,
    metric_variable,
)

_v1 = tf.compat.v1


def cohen_kappa(
    labels: TensorLike,
    predictions_idx: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes Cohen's kappa (1960): the agreement of two raters beyond chance.

    Args:
      labels: Classes from 0 to num_classes - 1, of shape [batch] or [batch, 1].
      predictions_idx: Classes of the same shape.
      num_classes: Number of classes.
      weights: Weights of the labels.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      name: Name of the variable scope.

    Returns:
      The value and the operation that adds a batch.
    """
    with _v1.variable_scope(name, "cohen_kappa"):
        totals = [metric_variable(name, num_classes) for name in ("po", "pe_row", "pe_col")]
        counts = _v1.confusion_matrix(
            tf.reshape(labels, [-1]),
            tf.reshape(predictions_idx, [-1]),
            num_classes,
            dtype=tf.float32,
            weights=None if weights is None else tf.reshape(weights, [-1]),
        )
        batch = tf.linalg.diag_part(counts), tf.reduce_sum(counts, 0), tf.reduce_sum(counts, 1)
        updates = [total.assign_add(one) for total, one in zip(totals, batch, strict=True)]
        value = compute_over_replicas(_compute_kappa, totals, metrics_collections)
        return value, add_to_collections(_compute_kappa(*updates), updates_collections)


def _compute_kappa(agreed: tf.Tensor, rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    agreed, rows, columns = (tf.convert_to_tensor(one) for one in (agreed, rows, columns))
    total = tf.reduce_sum(rows)
    by_chance = tf.math.divide_no_nan(tf.reduce_sum(rows * columns), total)
    return tf.math.divide_no_nan(tf.reduce_sum(agreed) - by_chance, total - by_chance)


def streaming_false_negative_rate(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the share of positive labels that are predicted as negative."""
    with _v1.variable_scope(name, "false_negative_rate"):
        missed = _v1.metrics.false_negatives(labels, predictions, weights)
        found = _v1.metrics.true_positives(labels, predictions, weights)
        return _divide_counts(missed, found, metrics_collections, updates_collections)


def streaming_false_positive_rate(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the share of negative labels that are predicted as positive."""
    with _v1.variable_scope(name, "false_positive_rate"):
        wrong = _v1.metrics.false_positives(labels, predictions, weights)
        right = _v1.metrics.true_negatives(labels, predictions, weights)
        return _divide_counts(wrong, right, metrics_collections, updates_collections)


def _divide_counts(
    wrong: tuple[tf.Tensor, tf.Tensor],
    right: tuple[tf.Tensor, tf.Tensor],
    metrics_collections: Collections | None,
    updates_collections: Collections | None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the share of wrong answers and its update, of two counts with theirs."""
    shares = [
        tf.math.divide_no_nan(one, one + other) for one, other in zip(wrong, right, strict=True)
    ]
    value, update = shares
    return (
        add_to_collections(value, metrics_collections),
        add_to_collections(update, updates_collections),
    )
