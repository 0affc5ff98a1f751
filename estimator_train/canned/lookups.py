"""Weights and embeddings of the ids in a categorical column, as one row for each example.

The result is that of `tf.nn.safe_embedding_lookup_sparse` with fewer operations: all parts of a
model share the preprocessed ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.canned.arguments import FeatureColumn

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
        combiner = _complete_combiner(combiner)
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


def _complete_combiner(combiner: str | None) -> str:
    """Returns a combiner, or the default for None; raises ValueError if it is unknown."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in _REDUCTIONS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    return combiner


class PaddedIds(NamedTuple):
    """Ids of a batch in an export, which dense operations combine: every runtime has these.

    Attributes:
      values: int64 of shape [batch, values]; negative values are no ids.
      weights: float32 of the same shape, or None for equal weights.
    """

    values: tf.Tensor
    weights: tf.Tensor | None

    def combine(self, variable: Any, combiner: str | None, name: str | None = None) -> tf.Tensor:
        """Returns the combined rows of a variable, as `Ids.combine` does.

        Args:
          variable: float32 of shape [buckets, size], partitioned or not.
          combiner: "sum", "mean" or "sqrtn"; None for "mean".
          name: Name of the operation.

        Returns:
          float32 of shape [batch, size]; zeros where an example has no id.

        Raises:
          ValueError: The combiner is unknown.
        """
        combiner = _complete_combiner(combiner)
        weights = self._get_weights()
        if combiner != "sum":
            weights = tf.maximum(weights, 0.0)
        places = tf.cast(tf.maximum(self.values, 0), tf.int32)
        rows = tf.gather(tf.convert_to_tensor(variable), places)
        total = tf.reduce_sum(rows * tf.expand_dims(weights, -1), axis=1)
        if combiner == "sum":
            return tf.identity(total, name=name)
        norm = tf.reduce_sum(weights if combiner == "mean" else weights * weights, 1, keepdims=True)
        norm = norm if combiner == "mean" else tf.sqrt(norm)
        return tf.divide(total, norm + tf.cast(norm <= 0.0, tf.float32), name=name)

    def count(self, buckets: int) -> tf.Tensor:
        """Returns how often each id occurs in an example, or its weight: float32 [batch, buckets].

        Args:
          buckets: Number of ids.
        """
        chosen = tf.one_hot(tf.cast(self.values, tf.int32), buckets)
        return tf.reduce_sum(chosen * tf.expand_dims(self._get_weights(), -1), axis=1)

    def get_first(self, default: int) -> tf.Tensor:
        """Returns the first id of each example, int32 [batch, 1].

        Args:
          default: Result for an example without ids.
        """
        first = tf.cast(self.values[:, :1], tf.int32)
        return tf.where(first < 0, default, first)

    def _get_weights(self) -> tf.Tensor:
        """Returns the weights, 0 for padding."""
        is_id = tf.cast(self.values >= 0, tf.float32)
        return is_id if self.weights is None else is_id * self.weights


class PaddedSequence(NamedTuple):
    """Ids of the steps of sequences in an export.

    Attributes:
      values: int64 of shape [batch, time]; -1 is a step without an id, and -2 is no step.
    """

    values: tf.Tensor

    def count_steps(self) -> tf.Tensor:
        """Returns the length of each sequence, int64 [batch]."""
        return tf.reduce_sum(tf.cast(self.values > -2, tf.int64), axis=1)

    def look_up(self, variable: Any) -> tf.Tensor:
        """Returns the rows of a variable, [batch, time, size]; zeros for steps without an id."""
        places = tf.cast(tf.maximum(self.values, 0), tf.int32)
        return tf.gather(tf.convert_to_tensor(variable), places) * self._mark_ids()

    def mark(self, buckets: int) -> tf.Tensor:
        """Returns 1 at the place of each id, float32 [batch, time, buckets]."""
        # ONNX counts negative places from the end.
        return tf.one_hot(tf.cast(self.values, tf.int32), buckets) * self._mark_ids()

    def _mark_ids(self) -> tf.Tensor:
        """Returns 1 for steps with an id, and 0 for others: float32 [batch, time, 1]."""
        return tf.cast(tf.expand_dims(self.values, -1) >= 0, tf.float32)


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
        None if weights is None else _check_weights(column, values, weights.values),
    )
    return ids if _has_bucket_for_all(column) else ids._filter(values >= 0)


def _check_weights(column: FeatureColumn, values: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Returns the weights of a column, and checks that there is one for each id."""
    check = tf.debugging.assert_equal(
        tf.size(weights),
        tf.size(values),
        # TensorFlow puts a backslash before each quotation mark of an assertion.
        f"Column {column.name} must have as many weights that are not 0 as values that are not "
        "missing (empty or -1). Set the weights of missing values to 0, and no others",
    )
    with tf.control_dependencies([check]):
        return tf.identity(tf.cast(weights, tf.float32))


def _has_bucket_for_all(column: FeatureColumn) -> bool:
    """Returns whether every value has a bucket: by its hash, its range or an OOV bucket."""
    column = getattr(column, "categorical_column", column)
    return (
        hasattr(column, "hash_bucket_size")
        or hasattr(column, "boundaries")
        or bool(getattr(column, "num_oov_buckets", 0))
    )
