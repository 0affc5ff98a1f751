"""Masks and thresholds of weights, and the collections that hold them in one order."""

from typing import TypeAlias

import tensorflow as tf

from tf_contrib._types import Scope

_v1 = tf.compat.v1
WEIGHTS, MASKS, THRESHOLDS, MASKED_WEIGHTS = "kernel", "masks", "thresholds", "masked_weights"
MASKED_WEIGHT_NAME = "weights/masked_weight"
# A variable, or the parts of one under a partitioner.
Weights: TypeAlias = tf.Variable | tf.Tensor


def apply_mask(x: Weights, scope: Scope = "") -> tf.Tensor:
    """Returns weights multiplied by a mask of ones, which `Pruning` updates.

    Args:
      x: Weights.
      scope: Variable scope of the variables `mask` and `threshold`.
    """
    shape, dtype = x.get_shape(), x.dtype.base_dtype
    with _v1.variable_scope(scope):
        mask = _v1.get_variable(
            "mask",
            shape,
            dtype,
            initializer=_v1.ones_initializer(),
            trainable=False,
        )
        threshold = _v1.get_variable(
            "threshold", [], dtype, initializer=_v1.zeros_initializer(), trainable=False
        )
    # Weights that are masked again with the same variables are pruned once.
    if any(one is mask for one in get_masks()):
        return tf.multiply(mask, x, MASKED_WEIGHT_NAME)
    return multiply_by_mask(x, mask, threshold)


def multiply_by_mask(weights: Weights, mask: tf.Variable, threshold: tf.Variable) -> tf.Tensor:
    """Returns the masked weights, and adds all four to their collections."""
    masked = tf.multiply(mask, weights, MASKED_WEIGHT_NAME)
    _v1.add_to_collection(MASKS, mask)
    _v1.add_to_collection(THRESHOLDS, threshold)
    _v1.add_to_collection(MASKED_WEIGHTS, masked)
    _v1.add_to_collection(WEIGHTS, weights)
    return masked


def get_masked_weights() -> list[tf.Tensor]:
    """Returns the masked values of all weights of the graph."""
    return _v1.get_collection(MASKED_WEIGHTS)


def get_masks() -> list[tf.Variable]:
    """Returns the masks of the graph."""
    return _v1.get_collection(MASKS)


def get_thresholds() -> list[tf.Variable]:
    """Returns the thresholds of the graph: smaller weights are masked."""
    return _v1.get_collection(THRESHOLDS)


def get_weights() -> list[Weights]:
    """Returns the weights of the graph that have masks."""
    return _v1.get_collection(WEIGHTS)


def get_weight_sparsity() -> list[tf.Tensor]:
    """Returns the share of zeros in each mask of the graph."""
    return [tf.nn.zero_fraction(mask) for mask in get_masks()]
