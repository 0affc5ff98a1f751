"""Derivatives of losses, and the splits that gain most by them."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import Settings
from estimator_train.canned.boosted_trees.features import Features

# Differences of sums have rounding errors: this share of the total counts as zero.
_NOTHING = 1e-11
# Gains that differ by less than this share of the scores are equal; the first one wins.
_EQUAL = 1e-10


class Derivatives(NamedTuple):
    """Derivatives of the loss of a batch.

    Attributes:
      gradients: float32 [batch, logits].
      hessians: float32 [batch, logits * logits], a matrix for each example.
    """

    gradients: tf.Tensor
    hessians: tf.Tensor


def compute_derivatives(loss: tf.Tensor, logits: tf.Tensor) -> Derivatives:
    """Returns the derivatives of the loss of any head or loss_fn.

    Args:
      loss: The loss of the batch: a sum or mean over examples.
      logits: float32 [batch, logits]; the loss of an example depends on its own alone.

    Raises:
      ValueError: The loss does not depend on the logits.
    """
    [gradients] = tf.gradients(loss, [logits], unconnected_gradients="none")
    if gradients is None:
        raise ValueError(f"The loss {loss} does not depend on the logits, so no tree can lower it.")
    rows = [
        tf.gradients(gradients[:, number], [logits], unconnected_gradients="zero")[0]
        for number in range(logits.shape[1])
    ]
    return Derivatives(gradients, tf.concat(rows, 1))


def compute_softmax_losses(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    """Returns the cross entropy of each example without adding it to the collection LOSSES.

    Args:
      labels: Class numbers, int [batch, 1].
      logits: float32 [batch, classes].

    Returns:
      float32 [batch, 1].
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.squeeze(labels, axis=-1), logits)
    return tf.expand_dims(losses, axis=-1)


class Splits(NamedTuple):
    """Best split of each node.

    Attributes:
      allowed: Whether to split the node, bool [nodes].
      gain: float32 [nodes].
      feature: int32 [nodes].
      threshold: The bucket, counted from the feature's first one, int32 [nodes].
      left: The weight of the left child, float32 [nodes, logits].
      right: The weight of the right child, of the same shape.
    """

    allowed: tf.Tensor
    gain: tf.Tensor
    feature: tf.Tensor
    threshold: tf.Tensor
    left: tf.Tensor
    right: tf.Tensor


def sum_derivatives(
    features: Features, ids: tf.Tensor, node: tf.Tensor, found: Derivatives, nodes: Any
) -> tf.Tensor:
    """Returns the sums of derivatives of each node, feature and bucket.

    Args:
      features: How buckets are numbered.
      ids: Buckets of a batch, int32 [batch, features].
      node: Each example's node, int32 [batch], from 0; below it for examples in no node.
      found: Their derivatives.
      nodes: Number of nodes.

    Returns:
      float64 [nodes, buckets, logits + logits * logits].
    """
    # In float64 the order of examples does not change the digits that select a split.
    columns = tf.unstack(tf.cast(tf.concat(found, 1), tf.float64), axis=1)
    inside = node >= 0
    buckets = features.bucket_count
    place = tf.reshape(ids + (tf.maximum(node, 0) * buckets)[:, None], [-1])
    shape = tf.shape(ids)
    sums = []
    for column in columns:
        weights = tf.where(inside, column, tf.zeros_like(column))[:, None]
        sums.append(
            tf.raw_ops.DenseBincount(
                input=place,
                size=nodes * buckets,
                weights=tf.reshape(tf.broadcast_to(weights, shape), [-1]),
            )
        )
    return tf.reshape(tf.stack(sums, 1), [nodes, buckets, len(columns)])


def find_best_splits(
    sums: tf.Tensor, features: Features, settings: Settings, logits: int, is_node: tf.Tensor
) -> Splits:
    """Returns the best split of each node.

    Args:
      sums: Result of `sum_derivatives`.
      features: How buckets are numbered.
      settings: Regularization and pruning.
      logits: Number of logits.
      is_node: Whether the tree has the node, bool [nodes].
    """
    running = tf.cumsum(sums, 1)
    before = tf.concat([tf.zeros_like(running[:, :1]), running], 1)
    begins = features.first_bucket[features.feature_of]
    left = running - tf.gather(before, begins, axis=1)
    if features.by_value.any():
        alone = features.by_value[features.feature_of]
        left = tf.where(tf.constant(alone)[None, :, None], sums, left)
    last = int((features.feature_of == 0).sum()) - 1
    whole = running[:, last : last + 1]
    solve = _Solver(settings, logits, whole)
    parent_score = solve(whole).score
    left_side, right_side = solve(left), solve(whole - left)
    both = left_side.score + right_side.score
    gain = tf.where(tf.constant(features.candidates), both - parent_score, -float("inf"))
    scale = tf.reduce_max(tf.abs(both), 1, keepdims=True) + tf.abs(parent_score)
    first = gain >= tf.reduce_max(gain, 1, keepdims=True) - _EQUAL * scale
    best = tf.argmax(tf.cast(first, tf.int32), 1, tf.int32)
    best_gain = tf.gather(gain, best, batch_dims=1) - settings.tree_complexity
    weight = tf.norm(whole[:, 0, logits:], axis=1)
    allowed = is_node & (weight >= settings.min_node_weight * (1 - 1e-6))
    if settings.pruning_mode == "pre":
        allowed &= best_gain > 0
    feature = tf.gather(tf.constant(features.feature_of), best)
    return Splits(
        allowed,
        tf.cast(best_gain, tf.float32),
        feature,
        best - tf.gather(tf.constant(features.first_bucket), feature),
        tf.cast(tf.gather(left_side.weights, best, batch_dims=1), tf.float32),
        tf.cast(tf.gather(right_side.weights, best, batch_dims=1), tf.float32),
    )


class _Side(NamedTuple):
    """One side of splits: optimal weights and their score, twice the decrease of the loss."""

    weights: tf.Tensor
    score: tf.Tensor


class _Solver:
    """Solver for the weights of nodes and their scores.

    Args:
      settings: Regularization.
      logits: Number of logits.
      whole: Sums of the nodes to split, which scale the threshold of zero.
    """

    def __init__(self, settings: Settings, logits: int, whole: tf.Tensor) -> None:
        self._settings, self._logits = settings, logits
        self._least = _NOTHING * tf.norm(whole[..., logits:], axis=-1, keepdims=True)

    def __call__(self, sums: tf.Tensor) -> _Side:
        there = tf.norm(sums[..., self._logits :], axis=-1, keepdims=True) > self._least
        sums = tf.where(there, sums, tf.zeros_like(sums))
        gradients, hessians = sums[..., : self._logits], sums[..., self._logits :]
        if self._logits > 1:
            weights = self._solve_matrices(gradients, hessians)
            return _Side(weights, -tf.reduce_sum(gradients * weights, -1))
        gradients = shrink(gradients, self._settings.l1_regularization)
        divisor = hessians + self._settings.l2_regularization
        divisible = divisor > 0
        divisor = tf.where(divisible, divisor, tf.ones_like(divisor))
        weights = tf.where(divisible, -gradients / divisor, tf.zeros_like(gradients))
        return _Side(weights, -(gradients * weights)[..., 0])

    def _solve_matrices(self, gradients: tf.Tensor, hessians: tf.Tensor) -> tf.Tensor:
        shape = tf.concat([tf.shape(hessians)[:-1], [self._logits, self._logits]], 0)
        matrices = tf.reshape(hessians, shape)
        # The second derivatives of a softmax are singular: adding to all logits changes nothing.
        ridge = 1e-10 * tf.abs(tf.linalg.trace(matrices)) + 1e-30
        ridge = (ridge + self._settings.l2_regularization)[..., None]
        matrices = tf.linalg.set_diag(matrices, tf.linalg.diag_part(matrices) + ridge)
        return -tf.linalg.solve(matrices, gradients[..., None])[..., 0]


def shrink(gradients: tf.Tensor, l1: float) -> tf.Tensor:
    """Returns gradients moved towards 0 by l1."""
    if not l1:
        return gradients
    return tf.sign(gradients) * tf.maximum(tf.abs(gradients) - l1, 0)
