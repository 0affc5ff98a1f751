"""Covariance and correlation over batches: means and products of deviations, kept up to date.

Moments are count, mean of the predictions, mean of the labels, and the sum of the products of the
deviations from those.
"""

import functools
from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.metrics.variables import (
    collected,
    metric_variable,
    over_replicas,
)


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The covariance of predictions and labels of a sample: all batches; see `f1_score`."""
    variables, updated = _comoment(predictions, labels, weights, name, "covariance")
    value = over_replicas(_covariance_of_all, variables, metrics_collections)
    return value, collected(_covariance(*updated), updates_collections)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The correlation of predictions and labels over all batches; see `f1_score`."""
    with tf.compat.v1.variable_scope(name, "pearson_r"):
        variables, updated = zip(
            _comoment(predictions, labels, weights, "covariance"),
            _comoment(predictions, predictions, weights, "variance_predictions"),
            _comoment(labels, labels, weights, "variance_labels"),
            strict=True,
        )
        value = over_replicas(_correlation_of_all, sum(variables, []), metrics_collections)
        return value, collected(
            _correlation(*(_covariance(*one) for one in updated)), updates_collections
        )


def _comoment(
    predictions: Any, labels: Any, weights: Any, name: str | None, default: str | None = None
) -> tuple[list[Any], list[Any]]:
    """Count, both means and the sum of products of deviations; and the same with a batch in."""
    with tf.compat.v1.variable_scope(name, default):
        names = ("count", "mean_prediction", "mean_label", "comoment")
        variables = [metric_variable(name) for name in names]
        x, y = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        weights = (
            tf.ones_like(y) if weights is None else tf.cast(weights, y.dtype) * tf.ones_like(y)
        )
        before = [variable.read_value() for variable in variables]
        after = _joined(before, _moments(x, y, weights))
        with tf.control_dependencies(after):
            updates = [one.assign(new) for one, new in zip(variables, after, strict=True)]
        with tf.control_dependencies(updates):
            return variables, [tf.identity(one) for one in after]


def _moments(x: Any, y: Any, weights: Any) -> list[Any]:
    size = tf.reduce_sum(weights)
    mean_x, mean_y = (tf.math.divide_no_nan(tf.reduce_sum(one * weights), size) for one in (x, y))
    return [size, mean_x, mean_y, tf.reduce_sum(weights * (x - mean_x) * (y - mean_y))]


def _joined(one: list[Any], other: list[Any]) -> list[Any]:
    """The moments of two parts of the data together."""
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


def _covariance_of_all(*variables: Any) -> tf.Tensor:
    """The covariance of what all replicas have seen: means are not to be added up."""
    local = tf.distribute.get_strategy().experimental_local_results
    replicas = zip(*(local(variable) for variable in variables), strict=True)
    parts = ([tf.convert_to_tensor(one) for one in replica] for replica in replicas)
    return _covariance(*functools.reduce(_joined, parts))


def _covariance(count: Any, mean_x: Any, mean_y: Any, comoment: Any) -> tf.Tensor:
    del mean_x, mean_y
    return tf.where(count > 1, comoment / (count - 1), tf.constant(float("nan")))


def _correlation_of_all(*variables: Any) -> tf.Tensor:
    return _correlation(*(_covariance_of_all(*variables[i : i + 4]) for i in (0, 4, 8)))


def _correlation(covariance: Any, of_predictions: Any, of_labels: Any) -> tf.Tensor:
    return covariance / (tf.sqrt(of_predictions) * tf.sqrt(of_labels))
