"""Layers of canned models, made of variables whose scopes name, partition and share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_EPSILON = 1e-3
_MOMENTUM = 0.999
_PER_REPLICA = {
    "synchronization": tf.VariableSynchronization.ON_READ,
    "aggregation": tf.VariableAggregation.MEAN,
}


def dense(x: tf.Tensor, units: int, activation: Callable[[Any], Any] | None = None) -> tf.Tensor:
    """Applies a fully connected layer in the current scope.

    Args:
      x: float32 of shape [..., size].
      units: Size of the last dimension of the result.
      activation: Function of the result, or None.
    """
    kernel = tf.convert_to_tensor(
        _v1.get_variable(
            "kernel", [x.shape[-1], units], initializer=_v1.glorot_uniform_initializer()
        )
    )
    bias = tf.convert_to_tensor(_create_vector("bias", units, 0.0))
    y = tf.nn.bias_add(
        tf.matmul(x, kernel) if x.shape.rank == 2 else tf.tensordot(x, kernel, 1), bias
    )
    return y if activation is None else activation(y)


def add_batch_norm(x: tf.Tensor, training: bool) -> tuple[tf.Tensor, list[Any]]:
    """Normalizes a batch in the current scope.

    Args:
      x: float32 of shape [batch, size].
      training: Whether to use the mean and variance of the batch.

    Returns:
      The normalized tensor, and the operations that update the moving averages.
    """
    size = x.shape[-1]
    gamma, beta = _create_vector("gamma", size, 1.0), _create_vector("beta", size, 0.0)
    with _v1.variable_scope(_v1.get_variable_scope(), auxiliary_name_scope=False) as scope:
        scope.set_partitioner(None)
        moving = [
            _create_vector(name, size, first, trainable=False, **_PER_REPLICA)
            for name, first in (("moving_mean", 0.0), ("moving_variance", 1.0))
        ]
    mean, variance = tf.nn.moments(x, [0]) if training else moving
    scale, offset = tf.convert_to_tensor(gamma), tf.convert_to_tensor(beta)
    normalized = tf.nn.batch_normalization(x, mean, variance, offset, scale, _EPSILON)
    if not training:
        return normalized, []
    updates = [
        average.assign_sub((average - value) * (1.0 - _MOMENTUM))
        for average, value in zip(moving, (mean, variance), strict=True)
    ]
    return normalized, updates


def add_activation_summaries(name: str, x: tf.Tensor) -> None:
    """Adds a layer's output to the summaries, as a histogram and its share of zeros."""
    _v1.summary.scalar(f"{name}/fraction_of_zero_values", tf.math.zero_fraction(x))
    _v1.summary.histogram(f"{name}/activation", x)


def _create_vector(name: str, size: int, first: float, **settings: Any) -> Any:
    initializer = _v1.constant_initializer(first)
    return _v1.get_variable(name, [size], initializer=initializer, **settings)
