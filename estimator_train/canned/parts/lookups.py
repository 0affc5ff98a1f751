"""Weights and embeddings of the ids in a categorical column, as one row for each example.

The result is that of `tf.nn.safe_embedding_lookup_sparse` with fewer operations: all parts of a
model share the preprocessed ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.parts.argument_types import FeatureColumn

_REDUCTIONS: dict[str, Callable[..., tf.Tensor]] = {
    "sum": tf.sparse.segment_sum,
    "mean": tf.sparse.segment_mean,
    "sqrtn": tf.sparse.segment_sqrt_n,
}


class Ids(NamedTuple):
    """Ids of a batch.

    Attributes:
      values: int64 of shape [ids]; none is negative.
      rows: Example of each id, int64 of shape [ids], ascending.
      places: 0, 1, 2 ... of shape [ids].
      batch: Number of examples.
      weights: float32 of shape [ids], or None for equal weights.
    """

    values: tf.Tensor
    rows: tf.Tensor
    places: tf.Tensor
    batch: tf.Tensor
    weights: tf.Tensor | None

    def combine(self, variable: Any, combiner: str | None, name: str | None = None) -> tf.Tensor:
        """Returns the combined rows of a variable for the ids of each example.

        Args:
          variable: float32 of shape [buckets, size], partitioned or not.
          combiner: "sum", "mean" or "sqrtn", weighted if the column has weights; None for "mean",
            as in `tf.nn.embedding_lookup_sparse`.
          name: Name of the operation.

        Returns:
          float32 of shape [batch, size]; zeros where an example has no id.

        Raises:
          ValueError: The combiner is unknown.
        """
        combiner = "mean" if combiner is None else combiner
        if combiner not in _REDUCTIONS:
            raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
        if self.weights is None:
            found = tf.nn.embedding_lookup(variable, self.values)
            return _REDUCTIONS[combiner](
                found, self.places, self.rows, num_segments=self.batch, name=name
            )
        ids = self if combiner == "sum" else self._filter(self.weights > 0)
        weights: tf.Tensor = ids.weights
        weighted = tf.nn.embedding_lookup(variable, ids.values) * weights[:, None]
        if combiner == "sum":
            return ids._segment_sum(weighted, name)
        total = ids._segment_sum(weighted)
        norm = ids._segment_sum(weights if combiner == "mean" else tf.square(weights))
        norm = norm if combiner == "mean" else tf.sqrt(norm)
        return tf.math.divide_no_nan(total, norm[:, None], name=name)

    def _segment_sum(self, values: tf.Tensor, name: str | None = None) -> tf.Tensor:
        return tf.sparse.segment_sum(
            values, self.places, self.rows, num_segments=self.batch, name=name
        )

    def _filter(self, condition: tf.Tensor) -> Ids:
        """Returns the ids for which a condition holds."""
        kept = tf.where(condition)[:, 0]
        weights = None if self.weights is None else tf.gather(self.weights, kept)
        values, rows = tf.gather(self.values, kept), tf.gather(self.rows, kept)
        return Ids(values, rows, tf.range(tf.size(values)), self.batch, weights)


def make_ids(column: FeatureColumn, pair: Any) -> Ids:
    """Returns the ids that a categorical column found.

    Args:
      column: The column.
      pair: Result of its `get_sparse_tensors`.
    """
    found, weights = pair.id_tensor, pair.weight_tensor
    values = tf.cast(found.values, tf.int64)
    ids = Ids(
        values,
        found.indices[:, 0],
        tf.range(tf.size(values)),
        found.dense_shape[0],
        None if weights is None else tf.cast(weights.values, tf.float32),
    )
    return ids if _has_bucket_for_all(column) else ids._filter(values >= 0)


def _has_bucket_for_all(column: FeatureColumn) -> bool:
    """Returns whether every value has a bucket: by its hash, its range or an OOV bucket."""
    column = getattr(column, "categorical_column", column)
    return (
        hasattr(column, "hash_bucket_size")
        or hasattr(column, "boundaries")
        or bool(getattr(column, "num_oov_buckets", 0))
    )
