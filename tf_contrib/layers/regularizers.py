"""Regularizers of `tf.contrib.layers`: functions from a tensor to its regularization loss."""

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
Regularizer = Callable[[Any], Any]


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Returns a regularizer: `scale` times the sum of absolute values; 0 turns it off.

    Raises:
      ValueError: scale is negative or an integer.
    """
    return _create_regularizer(scale, scope or "l1_regularizer", lambda w: tf.reduce_sum(tf.abs(w)))


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Returns a regularizer: `scale` times half the sum of squares; 0 turns it off.

    Raises:
      ValueError: scale is negative or an integer.
    """
    return _create_regularizer(scale, scope or "l2_regularizer", tf.nn.l2_loss)


def l1_l2_regularizer(
    scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None
) -> Regularizer | None:
    """Returns the sum of an L1 and an L2 regularizer."""
    both = [l1_regularizer(scale_l1), l2_regularizer(scale_l2)]
    return sum_regularizer(both, scope or "l1_l2_regularizer")


def sum_regularizer(
    regularizer_list: Sequence[Any], scope: str | None = None
) -> Regularizer | None:
    """Returns the sum of several regularizers, or None if all are None."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def regularizer(weights: tf.Tensor) -> tf.Tensor | None:
        with tf.name_scope(scope or "sum_regularizer") as name:
            penalties = [part for part in (r(weights) for r in regularizers) if part is not None]
            return tf.add_n(penalties, name) if penalties else None

    return regularizer


def apply_regularization(
    regularizer: Regularizer, weights_list: Sequence[tf.Tensor] | None = None
) -> tf.Tensor:
    """Returns the sum of a regularizer's losses for several tensors.

    Args:
      regularizer: Regularizer.
      weights_list: Tensors; by default the collection WEIGHTS.

    Raises:
      ValueError: There are no tensors.
    """
    weights = weights_list or _v1.get_collection(_v1.GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty") as name:
        penalties = [part for part in map(regularizer, weights) if part is not None]
        total = tf.add_n(penalties or [tf.constant(0.0)], name)
    _v1.add_to_collection(_v1.GraphKeys.REGULARIZATION_LOSSES, total)
    return total


def _create_regularizer(scale: float, scope: str, penalty: Callable[[Any], Any]) -> Regularizer:
    if isinstance(scale, numbers.Integral) or not isinstance(scale, numbers.Real):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    if scale == 0.0:
        return lambda weights: None

    def regularizer(weights: tf.Tensor) -> tf.Tensor:
        with tf.name_scope(scope) as name:
            factor = tf.convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, penalty(weights), name=name)

    return regularizer
