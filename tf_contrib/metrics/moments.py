"""Covariance and correlation over batches, computed from running moments.

Moments are the count, the mean prediction, the mean label, and the sum of the products of the
deviations from both means.
"""

import functools
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.variables import (
    add_to_collections,
    compute_over_replicas,
    metric_variable,
)


def streaming_covariance(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the sample covariance of predictions and labels; arguments as for `f1_score`."""
    variables, moments = _update_moments(predictions, labels, weights, name, "covariance")
    value = compute_over_replicas(_compute_total_covariance, variables, metrics_collections)
    return value, add_to_collections(_compute_covariance(*moments), updates_collections)


def streaming_pearson_correlation(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Computes the correlation of predictions and labels; arguments as for `f1_score`."""
    with tf.compat.v1.variable_scope(name, "pearson_r"):
        variables, all_moments = zip(
            _update_moments(predictions, labels, weights, "covariance"),
            _update_moments(predictions, predictions, weights, "variance_predictions"),
            _update_moments(labels, labels, weights, "variance_labels"),
            strict=True,
        )
        value = compute_over_replicas(
            _compute_total_correlation, sum(variables, []), metrics_collections
        )
        return value, add_to_collections(
            _compute_correlation(*(_compute_covariance(*moments) for moments in all_moments)),
            updates_collections,
        )


def _update_moments(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None,
    name: str | None,
    default: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Returns the variables of the moments, and the moments with a batch added."""
    with tf.compat.v1.variable_scope(name, default):
        names = ("count", "mean_prediction", "mean_label", "comoment")
        variables = [metric_variable(name) for name in names]
        x, y = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        weights = (
            tf.ones_like(y) if weights is None else tf.cast(weights, y.dtype) * tf.ones_like(y)
        )
        old_moments = [variable.read_value() for variable in variables]
        new_moments = _merge_moments(old_moments, _compute_moments(x, y, weights))
        with tf.control_dependencies(new_moments):
            updates = [one.assign(new) for one, new in zip(variables, new_moments, strict=True)]
        with tf.control_dependencies(updates):
            return variables, [tf.identity(one) for one in new_moments]


def _compute_moments(x: tf.Tensor, y: tf.Tensor, weights: tf.Tensor) -> list[Any]:
    size = tf.reduce_sum(weights)
    mean_x, mean_y = (tf.math.divide_no_nan(tf.reduce_sum(one * weights), size) for one in (x, y))
    return [size, mean_x, mean_y, tf.reduce_sum(weights * (x - mean_x) * (y - mean_y))]


def _merge_moments(one: list[Any], other: list[Any]) -> list[Any]:
    """Returns the moments of two parts of the data together."""
    total = one[0] + other[0]
    share = tf.math.divide_no_nan(other[0], total)
    apart_x, apart_y = other[1] - one[1], other[2] - one[2]
    between = apart_x * apart_y * one[0] * share
    return [
        total,
        one[1] + apart_x * share,
        one[2] + apart_y * share,
        one[3] + other[3] + between,
    ]


def _compute_total_covariance(*variables: Any) -> tf.Tensor:
    """Returns the covariance over all replicas, whose means cannot be summed."""
    local = tf.distribute.get_strategy().experimental_local_results
    replicas = zip(*(local(variable) for variable in variables), strict=True)
    parts = ([tf.convert_to_tensor(one) for one in replica] for replica in replicas)
    return _compute_covariance(*functools.reduce(_merge_moments, parts))


def _compute_covariance(
    count: tf.Tensor, mean_x: tf.Tensor, mean_y: tf.Tensor, comoment: tf.Tensor
) -> tf.Tensor:
    del mean_x, mean_y
    return tf.where(count > 1, comoment / (count - 1), tf.constant(float("nan")))


def _compute_total_correlation(*variables: Any) -> tf.Tensor:
    return _compute_correlation(
        *(_compute_total_covariance(*variables[i : i + 4]) for i in (0, 4, 8))
    )


def _compute_correlation(
    covariance: tf.Tensor, predictions_variance: tf.Tensor, labels_variance: tf.Tensor
) -> tf.Tensor:
    return covariance / (tf.sqrt(predictions_variance) * tf.sqrt(labels_variance))
