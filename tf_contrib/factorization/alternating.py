"""Alternating least squares: variables of the factors, solutions for a batch, and losses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_v1 = tf.compat.v1
# Values or initial values of the factors; or the name of a distribution.
Factors = Any
# A number for all rows, one for each; None: entries have unobserved_weight alone.
Weights = float | Sequence[float] | np.ndarray | None


@dataclass(frozen=True)
class Side:
    """Rows, or columns, of the matrix.

    Attributes:
      name: "row" or "col".
      key: Key of the features with batches of this side.
      shards: Variables of the factors, of shape [rows, dimension] each.
      weights: Weights of shape [size], or None.
      gramian: Variable of shape [dimension, dimension].
      processed: Variable that tells which rows the sweep has processed.
    """

    name: str
    key: str
    shards: list[tf.Variable]
    weights: tf.Tensor | None
    gramian: tf.Variable
    processed: tf.Variable

    @property
    def factors(self) -> tf.Tensor:
        """All factors."""
        return tf.concat(self.shards, 0)


@dataclass(frozen=True)
class LeastSquares:
    """Weighted least squares of the rows of a matrix, whose columns have fixed factors.

    Attributes:
      unobserved_weight: Weight of all entries.
      regularization: Factor of the squared factors in the loss.
    """

    unobserved_weight: float
    regularization: float

    def update(
        self, batch: tf.SparseTensor, side: Side, other: Side
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Updates the factors of the rows in a batch.

        Returns:
          Whether all rows are processed, and the results of `compute_loss`.
        """
        fixed, gramian = other.factors, _compute_gramian(other.factors)
        weights = multiply_weights(batch, side.weights, other.weights)
        indices, solved = self.solve(batch, fixed, gramian, weights)
        updated = tf.tensor_scatter_nd_update(side.factors, indices[:, None], solved)
        is_processed = tf.tensor_scatter_nd_update(
            side.processed.read_value(), indices[:, None], tf.ones_like(indices, tf.bool)
        )
        loss, error = self.compute_loss(batch, indices, updated, fixed, gramian, weights)
        parts = tf.split(updated, [int(shard.shape[0]) for shard in side.shards])
        assigned = [shard.assign(part) for shard, part in zip(side.shards, parts, strict=True)]
        assigned += [other.gramian.assign(gramian), side.processed.assign(is_processed)]
        with tf.control_dependencies(assigned):
            return tf.reduce_all(is_processed), tf.identity(loss), tf.identity(error)

    def solve(
        self,
        batch: tf.SparseTensor,
        fixed: tf.Tensor,
        gramian: tf.Tensor,
        weights: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the numbers of the rows in a batch, and their factors."""
        indices, segments = tf.unique(batch.indices[:, 0])
        count = tf.size(indices)
        vectors = tf.gather(fixed, batch.indices[:, 1])
        outer = vectors[:, :, None] * vectors[:, None, :] * weights[:, None, None]
        identity = tf.eye(int(fixed.shape[1])) * self.regularization
        left = tf.math.unsorted_segment_sum(outer, segments, count)
        left += self.unobserved_weight * gramian + identity
        right = vectors * ((self.unobserved_weight + weights) * batch.values)[:, None]
        right = tf.math.unsorted_segment_sum(right, segments, count)
        return indices, tf.linalg.solve(left, right[:, :, None])[:, :, 0]

    def compute_loss(
        self,
        batch: tf.SparseTensor,
        indices: tf.Tensor,
        updated: tf.Tensor,
        fixed: tf.Tensor,
        gramian: tf.Tensor,
        weights: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Estimates the loss of the matrix from the rows of a batch.

        Args:
          batch: Rows.
          indices: Numbers of the rows.
          updated: Factors of all rows.
          fixed: Factors of the columns.
          gramian: Gramian of `fixed`.
          weights: Weights of the entries of the batch.

        Returns:
          The loss with regularization, and the root of the mean weighted squared error.
        """
        factors = tf.gather(updated, indices)
        predicted = tf.reduce_sum(
            tf.gather(updated, batch.indices[:, 0]) * tf.gather(fixed, batch.indices[:, 1]), 1
        )
        everywhere = self.unobserved_weight * tf.reduce_sum((factors @ gramian) * factors)
        observed = tf.reduce_sum(
            (self.unobserved_weight + weights) * (batch.values - predicted) ** 2
            - self.unobserved_weight * predicted**2
        )
        count = tf.cast(tf.size(indices), tf.float32)
        columns = tf.cast(tf.shape(fixed)[0], tf.float32)
        total = self.unobserved_weight * count * columns + tf.reduce_sum(weights)
        share = tf.cast(tf.shape(updated)[0], tf.float32) / count
        squares = share * tf.reduce_sum(factors**2) + tf.linalg.trace(gramian)
        loss = share * (everywhere + observed) + self.regularization * squares
        return loss, tf.sqrt((everywhere + observed) / total)


def create_side(
    name: str, key: str, sizes: Sequence[int], dimension: int, initial: Factors, weights: Weights
) -> Side:
    """Creates the variables of a side.

    Args:
      name: "row" or "col".
      key: Key of the features.
      sizes: Number of rows of each shard.
      dimension: Number of factors of a row.
      initial: Initial factors.
      weights: Weights of the rows.
    """
    return Side(
        name,
        key,
        _create_shards(name, sizes, dimension, initial),
        _create_weights(name, sizes, weights),
        create_variable(f"{name}_gramian", [dimension] * 2),
        create_variable(f"processed_{name}s", [sum(sizes)], tf.bool),
    )


def create_variable(
    name: str, shape: Sequence[int], dtype: tf.DType = tf.float32, initial: Any = None
) -> tf.Variable:
    """Creates a variable that is not trained, by default of zeros."""
    value = tf.zeros(shape, dtype) if initial is None else initial
    return _v1.get_variable(name, initializer=value, trainable=False, use_resource=True)


def _create_shards(
    name: str, sizes: Sequence[int], dimension: int, initial: Factors
) -> list[tf.Variable]:
    """Creates the variables of the factors."""
    if isinstance(initial, str):
        values = [tf.random.normal([size, dimension]) for size in sizes]
    elif len(sizes) > 1 and len(initial) == len(sizes):
        values = [tf.cast(value, tf.float32) for value in initial]
    else:
        initial = initial[0] if np.ndim(initial) == 3 else initial
        values = tf.split(tf.cast(initial, tf.float32), sizes)
    return [
        create_variable(f"{name}_factors_shard_{index}", [], initial=value)
        for index, value in enumerate(values)
    ]


def _create_weights(name: str, sizes: Sequence[int], weights: Weights) -> tf.Tensor | None:
    """Creates the variables of the weights of rows; returns all weights, or None."""
    if weights is None:
        return None
    every = tf.broadcast_to(tf.cast(weights, tf.float32), [sum(sizes)])
    shards = [
        create_variable(f"{name}_weights_shard_{index}", [], initial=part)
        for index, part in enumerate(tf.split(every, sizes))
    ]
    return tf.concat(shards, 0)


def _compute_gramian(factors: tf.Tensor) -> tf.Tensor:
    return tf.matmul(factors, factors, transpose_a=True)


def multiply_weights(
    batch: tf.SparseTensor, row_weights: tf.Tensor | None, column_weights: tf.Tensor | None
) -> tf.Tensor:
    """Returns the weights of the entries of a batch in addition to that of all entries."""
    if row_weights is None or column_weights is None:
        return tf.zeros_like(batch.values)
    return tf.gather(row_weights, batch.indices[:, 0]) * tf.gather(
        column_weights, batch.indices[:, 1]
    )
