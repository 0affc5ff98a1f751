"""Descent of examples through trees, and the logits that this adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import Ensemble, Trees
from estimator_train.canned.boosted_trees.features import Features, look_up

# Approximate number of pairs of example and node that one iteration computes.
_AT_A_TIME = 2**23
# Up to this depth the decisions of all nodes are computed together.
_DEPTH_TO_DECIDE_ALL = 7

# Maps nodes, int32 [trees, batch], to 1 where the example goes right and 0 elsewhere, int32.
Decide = Callable[[tf.Tensor], tf.Tensor]


def add_tree_logits(
    ensemble: Ensemble,
    features: Features,
    ids: tf.Tensor,
    begin: tf.Tensor,
    end: tf.Tensor,
    start: tf.Tensor,
) -> tf.Tensor:
    """Returns logits with those of some trees added.

    Args:
      ensemble: The trees.
      features: How their features are numbered.
      ids: Buckets of the features of a batch, int32 [batch, features].
      begin: The first tree.
      end: The tree after the last one.
      start: Logits before, float32 [batch, logits].
    """
    rows = tf.maximum(tf.shape(ids)[0], 1)
    nodes = 2 ** min(ensemble.max_depth, _DEPTH_TO_DECIDE_ALL)
    at_a_time = tf.maximum(_AT_A_TIME // (nodes * rows), 1)

    def more(done: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return done < end

    def add(done: tf.Tensor, logits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        until = tf.minimum(done + at_a_time, end)
        trees = ensemble.read(done, until)
        return until, logits + _sum_trees(trees, features, ids, ensemble.max_depth)

    shapes = [tf.TensorShape([]), start.shape]
    return tf.while_loop(more, add, [begin, start], shapes)[1]


def _sum_trees(trees: Trees, features: Features, ids: tf.Tensor, depth: int) -> tf.Tensor:
    """Returns the sum of the values of some trees, float32 [batch, logits].

    Every example descends to the full depth. Where a branch ends earlier, all nodes below have its
    value, so that the direction there does not matter.
    """
    count, batch = tf.shape(trees.feature)[0], tf.shape(ids)[0]
    decide = _decide_all_nodes if depth <= _DEPTH_TO_DECIDE_ALL else _decide_visited_nodes
    right = decide(trees, features, ids)
    node = tf.zeros([count, batch], tf.int32)
    for _ in range(depth):
        node = 2 * node + 1 + right(node)
    inner = 2**depth - 1
    leaf = node + (tf.range(count) * (inner + 1) - inner)[:, None]
    values = _compute_leaf_values(trees, depth)
    return tf.reduce_sum(tf.gather(tf.reshape(values, [-1, values.shape[2]]), leaf), 0)


def _compute_leaf_values(trees: Trees, depth: int) -> tf.Tensor:
    """Returns the values at the full depth, float32 [trees, 2^depth, logits]."""
    values = trees.value[:, :1]
    for level in range(depth):
        begin, size = 2**level - 1, 2**level
        below = trees.value[:, 2 * begin + 1 : 2 * begin + 1 + 2 * size]
        inner = tf.repeat(trees.feature[:, begin : begin + size] >= 0, 2, 1)[:, :, None]
        values = tf.where(inner, below, tf.repeat(values, 2, 1))
    return values


def _decide_all_nodes(trees: Trees, features: Features, ids: tf.Tensor) -> Decide:
    """Computes the decisions of all nodes for all examples.

    Most results are not used, but this is faster: one operation compares rows of small integers,
    and a step down is one lookup.
    """
    count, inner = tf.shape(trees.feature)[0], tf.shape(trees.feature)[1]
    batch = tf.shape(ids)[0]
    small = features.bucket_type
    bucket = tf.cast(tf.transpose(ids - features.first_bucket), small)
    feature = tf.reshape(tf.maximum(trees.feature, 0), [-1])
    split_at = tf.reshape(tf.cast(trees.threshold, small), [-1, 1])
    found = tf.gather(bucket, feature)
    goes = tf.reshape(goes_right(features, feature[:, None], found, split_at), [-1])
    first = tf.range(count)[:, None] * (inner * batch) + tf.range(batch)
    return lambda node: tf.cast(tf.gather(goes, first + node * batch), tf.int32)


def _decide_visited_nodes(trees: Trees, features: Features, ids: tf.Tensor) -> Decide:
    """Computes only the decisions of visited nodes, which are few in deep trees."""
    count, inner = tf.shape(trees.feature)[0], tf.shape(trees.feature)[1]
    width = ids.shape[1]
    bucket = tf.reshape(ids - features.first_bucket, [-1])
    features_split = tf.reshape(tf.maximum(trees.feature, 0), [-1])
    thresholds = tf.reshape(trees.threshold, [-1])
    row = tf.range(tf.shape(ids)[0]) * width
    first = (tf.range(count) * inner)[:, None]

    def right(node: tf.Tensor) -> tf.Tensor:
        feature = tf.gather(features_split, first + node)
        found, split_at = tf.gather(bucket, row + feature), tf.gather(thresholds, first + node)
        return tf.cast(goes_right(features, feature, found, split_at), tf.int32)

    return right


def find_nodes(
    trees: Trees, tree: tf.Tensor, features: Features, ids: tf.Tensor, depth: int
) -> Any:
    """Returns in which node of a tree each example is, level by level.

    Args:
      trees: All trees.
      tree: Number of the tree.
      features: How its features are numbered.
      ids: Buckets of the features of a batch, int32 [batch, features].
      depth: Number of levels to descend; an example that reaches a leaf stays there.

    Returns:
      depth + 1 tensors, int32 [batch].
    """
    feature_of, threshold_of = trees.feature[tree], trees.threshold[tree]
    bucket_of = look_up(features.first_bucket, tf.maximum(feature_of, 0)) + threshold_of
    batch, width = tf.shape(ids)[0], ids.shape[1]
    flat = tf.reshape(ids, [-1])
    row = tf.range(batch) * width
    inner = tf.shape(feature_of)[0]
    node = tf.zeros([batch], tf.int32)
    path = [node]
    for _ in range(depth):
        place = tf.minimum(node, inner - 1)
        feature = tf.gather(feature_of, place)
        split_on = tf.maximum(feature, 0)
        right = goes_right(
            features, split_on, tf.gather(flat, row + split_on), tf.gather(bucket_of, place)
        )
        splits = (feature >= 0) & (node < inner)
        node = tf.where(splits, 2 * node + 1 + tf.cast(right, tf.int32), node)
        path.append(node)
    return path


def goes_right(
    features: Features, feature: tf.Tensor, found: tf.Tensor, bucket: tf.Tensor
) -> tf.Tensor:
    """Returns whether an example goes to the right child, bool.

    Args:
      features: How features split.
      feature: The feature that a node splits on.
      found: The example's bucket of that feature, numbered as `bucket`.
      bucket: The bucket that the node splits at.
    """
    if not features.by_value.any():
        return found > bucket
    by_value = look_up(features.by_value, feature)
    return tf.where(by_value, tf.not_equal(found, bucket), found > bucket)
