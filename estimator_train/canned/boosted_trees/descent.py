"""How examples go down trees, and the logits that they gather."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import Ensemble, Trees
from estimator_train.canned.boosted_trees.features import Features, table

# How many pairs of example and tree are gone through at a time: they stay in the caches.
_AT_A_TIME = 2**18


def logits_of(
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
    at_a_time = tf.maximum(_AT_A_TIME // rows, 1)

    def more(done: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        del logits
        return done < end

    def add(done: tf.Tensor, logits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        until = tf.minimum(done + at_a_time, end)
        trees = ensemble.read(done, until)
        return until, logits + _sum_of(trees, features, ids, ensemble.max_depth)

    shapes = [tf.TensorShape([]), start.shape]
    return tf.while_loop(more, add, [begin, start], shapes)[1]


def _sum_of(trees: Trees, features: Features, ids: tf.Tensor, depth: int) -> tf.Tensor:
    """What some trees add up to, float32 [batch, logits].

    Every tree is gone down to its full depth: where a branch ends before, its value is handed down
    to all that would stand below, so that it does not matter which way examples go there.
    """
    count = tf.shape(trees.feature)[0]
    batch, width = tf.shape(ids)[0], ids.shape[1]
    flat = tf.reshape(ids, [-1])
    row = (tf.range(batch) * width)[:, None]
    node = tf.zeros([batch, count], tf.int32)
    values = trees.value[:, :1]
    for level in range(depth):
        begin, size = 2**level - 1, 2**level
        feature = trees.feature[:, begin : begin + size]
        below = trees.value[:, 2 * begin + 1 : 2 * begin + 1 + 2 * size]
        inner = tf.repeat(feature >= 0, 2, 1)[:, :, None]
        values = tf.where(inner, below, tf.repeat(values, 2, 1))
        feature = tf.maximum(feature, 0)
        bucket = table(features.first_bucket, feature)
        bucket = tf.reshape(bucket + trees.threshold[:, begin : begin + size], [-1])
        place = node + tf.range(count) * size
        split_on = tf.gather(tf.reshape(feature, [-1]), place)
        found = tf.gather(flat, row + split_on)
        node = node * 2 + goes_right(features, split_on, found, tf.gather(bucket, place))
    leaf = node + tf.range(count) * 2**depth
    found = tf.gather(tf.reshape(values, [-1, values.shape[2]]), leaf)
    return tf.reduce_sum(found, 1)


def nodes_of(trees: Trees, tree: tf.Tensor, features: Features, ids: tf.Tensor, depth: int) -> Any:
    """Returns in which node of a tree each example is, level by level.

    Args:
      trees: All trees.
      tree: Number of the tree.
      features: How its features are numbered.
      ids: Buckets of the features of a batch, int32 [batch, features].
      depth: How many levels to go down; who comes to a leaf before stays there.

    Returns:
      depth + 1 tensors, int32 [batch].
    """
    feature_of, threshold_of = trees.feature[tree], trees.threshold[tree]
    bucket_of = table(features.first_bucket, tf.maximum(feature_of, 0)) + threshold_of
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
        node = tf.where(splits, 2 * node + 1 + right, node)
        path.append(node)
    return path


def goes_right(
    features: Features, feature: tf.Tensor, found: tf.Tensor, bucket: tf.Tensor
) -> tf.Tensor:
    """Returns 1 where an example goes to the right child, else 0, int32.

    Args:
      features: How features split.
      feature: The feature that a node splits on.
      found: The example's bucket of that feature.
      bucket: The bucket that the node splits at.
    """
    if not features.by_value.any():
        return tf.cast(found > bucket, tf.int32)
    by_value = table(features.by_value, feature)
    return tf.cast(tf.where(by_value, tf.not_equal(found, bucket), found > bucket), tf.int32)
