"""Buckets of numeric columns: their boundaries are quantiles of the first batches."""

from __future__ import annotations

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import SCOPE, create_state_variable
from estimator_train.canned.boosted_trees.settings import Settings

_v1 = tf.compat.v1
# Number of values kept from each batch, for each bucket.
_POINTS_FOR_A_BUCKET = 8


class Quantiles:
    """Boundaries of some features, determined by the first batches.

    Each batch contributes a fixed number of values at even distances of weight. After the last
    batch the boundaries of a feature are its distinct values if they fit into the buckets, and
    otherwise quantiles that include the smallest and the greatest value.

    Args:
      size: Number of features.
      buckets: Maximum number of boundaries of a feature.
      batches: Number of batches that determine the boundaries.

    Attributes:
      ready: bool variable, whether the boundaries are determined.
      boundaries: float32 variable [size, buckets], ascending, padded with infinity.
    """

    def __init__(self, size: int, buckets: int, batches: int) -> None:
        self._buckets, self._batches = buckets, batches
        self._points = _POINTS_FOR_A_BUCKET * buckets
        kept = [size, batches * self._points]
        with _v1.variable_scope("quantiles", use_resource=True):
            self.ready = create_state_variable("are_boundaries_ready", [], tf.bool, False)
            self.boundaries = create_state_variable(
                "bucket_boundaries", [size, buckets], tf.float32
            )
            self._values = create_state_variable("values", kept, tf.float32)
            self._weights = create_state_variable("weights", [batches], tf.float32)
            self._seen = create_state_variable("batches_seen", [], tf.int32)

    def assign_buckets(self, numbers: tf.Tensor) -> tf.Tensor:
        """Returns in which bucket each number is, int32 [batch, size], counted from 0.

        A bucket ends with its boundary. Numbers above the last boundary are in the last bucket;
        NaN is in the first.

        Args:
          numbers: float32 [batch, size].
        """
        boundaries = self.boundaries.read_value()
        columns = tf.transpose(tf.where(tf.math.is_nan(numbers), -numbers.dtype.max, numbers))
        found = tf.searchsorted(boundaries, columns, side="left")
        last = tf.math.count_nonzero(tf.math.is_finite(boundaries), 1, dtype=tf.int32) - 1
        return tf.transpose(tf.minimum(found, tf.maximum(last, 0)[:, None]))

    def add(self, numbers: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
        """Adds a batch, within a tf.function; the last batch determines the boundaries.

        Args:
          numbers: float32 [batch, size].
          weights: Weights of the examples, float32 [batch].

        Returns:
          Whether the boundaries are determined.
        """
        begin = self._seen * self._points
        kept = _sample_evenly(tf.transpose(numbers), weights, self._points)
        self._values[:, begin : begin + self._points].assign(kept)
        self._weights[self._seen].assign(tf.reduce_sum(weights))
        self._seen.assign_add(1)
        return tf.cond(self._seen >= self._batches, self._decide, lambda: tf.constant(False))

    def _decide(self) -> tf.Tensor:
        weights = tf.repeat(self._weights.read_value(), self._points)
        values = self._values.read_value()
        order = tf.argsort(values, stable=True)
        values = tf.gather(values, order, batch_dims=1)
        all_values = _sort_distinct(values)
        quantiles = _find_quantiles(
            values, tf.gather(weights, order), tf.range(self._buckets) / self._buckets
        )
        quantiles = tf.concat([quantiles[:, :-1], values[:, -1:]], 1)
        few = tf.math.count_nonzero(tf.math.is_finite(all_values), 1) <= self._buckets
        found = tf.where(few[:, None], all_values[:, : self._buckets], _sort_distinct(quantiles))
        self.boundaries.assign(found)
        return self.ready.assign(True)


def create_quantiles(numeric_size: int, settings: Settings) -> Quantiles | None:
    """Creates the quantiles of a model.

    Args:
      numeric_size: Number of features of numeric columns.
      settings: Settings of the model.

    Returns:
      The quantiles; None without such features.
    """
    if not numeric_size:
        return None
    with _v1.variable_scope(SCOPE, use_resource=True):
        return Quantiles(numeric_size, settings.numeric_buckets, settings.batches)


def _sample_evenly(rows: tf.Tensor, weights: tf.Tensor, points: int) -> tf.Tensor:
    """Samples each row at even distances of weight, from the smallest to the greatest."""
    rows = tf.where(tf.math.is_nan(rows), -rows.dtype.max, rows)
    order = tf.argsort(rows, stable=True)
    shares = tf.range(points) / max(1, points - 1)
    return _find_quantiles(tf.gather(rows, order, batch_dims=1), tf.gather(weights, order), shares)


def _find_quantiles(values: tf.Tensor, weights: tf.Tensor, shares: tf.Tensor) -> tf.Tensor:
    """Returns quantiles of rows of ascending values at some shares of the weight."""
    ends = tf.cumsum(tf.cast(weights, tf.float64), 1)
    # One part in 10^9 is rounding, not weight.
    wanted = tf.cast(shares, tf.float64) * ends[:, -1:] * (1 + 1e-9)
    places = tf.searchsorted(ends, wanted, side="right")
    return tf.gather(values, tf.minimum(places, tf.shape(values)[1] - 1), batch_dims=1)


def _sort_distinct(rows: tf.Tensor) -> tf.Tensor:
    """Sorts the distinct values of each row, padded with infinity."""
    same = tf.equal(rows[:, 1:], rows[:, :-1])
    same = tf.concat([tf.zeros_like(rows[:, :1], tf.bool), same], 1)
    return tf.sort(tf.where(same, float("inf"), rows))
