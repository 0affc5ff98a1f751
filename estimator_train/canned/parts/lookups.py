"""Weights and embeddings of the ids in a categorical column, as one row for each example.

This is what `tf.nn.safe_embedding_lookup_sparse` computes, in a fraction of its operations: the ids
are brought into shape once for all parts of a model that look them up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

_REDUCTIONS: dict[str, Callable[..., tf.Tensor]] = {
    "sum": tf.sparse.segment_sum,
    "mean": tf.sparse.segment_mean,
    "sqrtn": tf.sparse.segment_sqrt_n,
}


class Ids(NamedTuple):
    """The ids of a batch, one after the other.

    Attributes:
      values: int64 of shape [ids]; none is negative.
      rows: Example of each id, int64 of shape [ids], ascending.
      places: 0, 1, 2 ... of shape [ids].
      batch: How many examples there are.
      weights: float32 of shape [ids], or None for equal weights.
    """

    values: tf.Tensor
    rows: tf.Tensor
    places: tf.Tensor
    batch: tf.Tensor
    weights: tf.Tensor | None

    def reduced(self, variable: Any, combiner: str | None) -> tf.Tensor:
        """Returns the rows of a variable that the ids of each example name, as one.

        Args:
          variable: float32 of shape [buckets, size], partitioned or not.
          combiner: "sum", "mean" or "sqrtn", by weights if there are some; None for "mean", as
            `tf.nn.embedding_lookup_sparse` takes it.

        Returns:
          float32 of shape [batch, size]; zeros where an example has no id.

        Raises:
          ValueError: There is no such combiner.
        """
        combiner = "mean" if combiner is None else combiner
        if combiner not in _REDUCTIONS:
            raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
        if self.weights is None:
            found = tf.nn.embedding_lookup(variable, self.values)
            return _REDUCTIONS[combiner](found, self.places, self.rows, num_segments=self.batch)
        ids = self if combiner == "sum" else self._where(self.weights > 0)
        weights: tf.Tensor = ids.weights
        total = ids._summed(tf.nn.embedding_lookup(variable, ids.values) * weights[:, None])
        if combiner == "sum":
            return total
        norm = ids._summed(weights if combiner == "mean" else tf.square(weights))
        norm = norm if combiner == "mean" else tf.sqrt(norm)
        return tf.math.divide_no_nan(total, norm[:, None])

    def _summed(self, values: tf.Tensor) -> tf.Tensor:
        return tf.sparse.segment_sum(values, self.places, self.rows, num_segments=self.batch)

    def _where(self, condition: tf.Tensor) -> Ids:
        """The ids for which a condition holds."""
        kept = tf.where(condition)[:, 0]
        weights = None if self.weights is None else tf.gather(self.weights, kept)
        values, rows = tf.gather(self.values, kept), tf.gather(self.rows, kept)
        return Ids(values, rows, tf.range(tf.size(values)), self.batch, weights)


def ids_of(column: Any, pair: Any) -> Ids:
    """Returns the ids that a categorical column found.

    Args:
      column: The column.
      pair: What its `get_sparse_tensors` returned.
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
    return ids if _never_negative(column) else ids._where(values >= 0)


def _never_negative(column: Any) -> bool:
    """Whether every value has a bucket: by its hash, its range, or buckets for unknown words."""
    column = getattr(column, "categorical_column", column)
    return (
        hasattr(column, "hash_bucket_size")
        or hasattr(column, "boundaries")
        or bool(getattr(column, "num_oov_buckets", 0))
    )
