"""From feature columns to the bucket ids that trees split on.

Each number of a column is one feature, and each value of a feature is one bucket. The buckets of
all features share one numbering, so that a bucket id identifies a feature and its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.canned.arguments import FeatureColumn, FeatureColumns
from estimator_train.canned.boosted_trees.ensemble import SCOPE, Settings, create_state_variable
from estimator_train.canned.column_kinds import is_categorical, validate_columns
from estimator_train.canned.columns import Batch
from estimator_train.canned.lookups import PaddedIds
from estimator_train.heads.checks import is_numeric_column

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

    def compute_limits(self) -> tf.Tensor:
        """Returns the greatest number of each bucket, float32 [size, buckets].

        It is infinity for the last bucket. NaN is in the first.
        """
        boundaries = self.boundaries.read_value()
        is_last = tf.math.is_inf(
            tf.pad(boundaries[:, 1:], [[0, 0], [0, 1]], constant_values=np.inf)
        )
        return tf.where(is_last, np.inf, boundaries)

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


class _Column(NamedTuple):
    """Feature column with its sizes.

    Attributes:
      column: The column.
      kind: "bucketized", "indicator", "numeric" or "categorical".
      name: Name in importances and explanations.
      size: Number of features.
      buckets: Number of values of each feature.
    """

    column: FeatureColumn
    kind: str
    name: str
    size: int
    buckets: int


class Features:
    """Features of a model and the numbering of their buckets.

    Args:
      columns: Columns of `tf.feature_column`: bucketized, indicator, numeric or categorical.
      settings: Give the number of buckets of numeric columns.

    Attributes:
      names: The names of the columns, in the order in which features are numbered.
      column_of: int32 [features], the place of each feature's column among `names`.
      first_bucket: int32 [features], the number of each one's first bucket.
      feature_of: int32 [buckets], the feature of each bucket.
      by_value: bool [features], whether a split is "this value or another one" and not "up to
        this value or above".
      candidates: bool [buckets], whether a split can be made at the bucket.
      numeric_size: Number of features of numeric columns.
      bucket_type: The smallest integer type that can number the buckets of a feature.

    Raises:
      ValueError: Trees cannot use a column, or as `validate_columns`.
    """

    def __init__(self, columns: FeatureColumns, settings: Settings) -> None:
        self._columns = [
            _describe(column, settings.numeric_buckets) for column in validate_columns(columns)
        ]
        self.names = [column.name for column in self._columns]
        sizes = [column.size for column in self._columns]
        buckets = np.repeat([column.buckets for column in self._columns], sizes)
        self.column_of = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
        self.first_bucket = (np.cumsum(buckets) - buckets).astype(np.int32)
        self.feature_of = np.repeat(np.arange(len(buckets)), buckets).astype(np.int32)
        self.by_value = np.repeat([c.kind == "categorical" for c in self._columns], sizes)
        self.candidates = np.ones(len(self.feature_of), bool)
        # The last bucket of a categorical column holds the examples without a value.
        self.candidates[(self.first_bucket + buckets - 1)[self.by_value]] = False
        self.bucket_type = np.min_scalar_type(-int(buckets.max()))
        self.numeric_size = sum(c.size for c in self._columns if c.kind == "numeric")

    @property
    def count(self) -> int:
        """Number of features."""
        return len(self.first_bucket)

    @property
    def bucket_count(self) -> int:
        """Number of buckets of all features."""
        return len(self.feature_of)

    def read_numbers(self, batch: Batch) -> tf.Tensor:
        """Returns the values of the numeric columns, float32 [batch, numeric_size]."""
        columns = [column.column for column in self._columns if column.kind == "numeric"]
        return tf.concat([batch.dense([column]) for column in columns], 1)

    def compute_split_inputs(self, batch: Batch) -> tf.Tensor:
        """Returns the number that each feature's splits compare, float32 [batch, features].

        It is the value of a numeric column, and for others the bucket, counted from 0.
        """
        found = [
            batch.dense([column.column])
            if column.kind == "numeric"
            else tf.cast(_assign_buckets(column, batch), tf.float32)
            for column in self._columns
        ]
        return tf.concat(found, 1)

    def compute_thresholds(
        self, feature: tf.Tensor, bucket: tf.Tensor, quantiles: Quantiles | None
    ) -> tf.Tensor:
        """Returns the numbers that splits compare with `compute_split_inputs`, float32.

        Args:
          feature: Features on which nodes split, int32 of any shape.
          bucket: Last bucket that goes left, counted from 0, int32 of the same shape.
          quantiles: Boundaries of the numeric columns; None where no column is numeric.
        """
        threshold = tf.cast(bucket, tf.float32)
        if quantiles is None:
            return threshold
        is_numeric = np.repeat(
            [column.kind == "numeric" for column in self._columns],
            [column.size for column in self._columns],
        )
        row = look_up(np.maximum(np.cumsum(is_numeric) - 1, 0).astype(np.int32), feature)
        limits = quantiles.compute_limits()
        place = tf.minimum(bucket, tf.shape(limits)[1] - 1)
        boundary = tf.gather_nd(limits, tf.stack([row, place], -1))
        return tf.where(look_up(is_numeric, feature), boundary, threshold)

    def compute_bucket_ids(self, batch: Batch, quantiles: Quantiles | None) -> tf.Tensor:
        """Returns the number of the bucket of each feature, int32 [batch, features].

        Args:
          batch: The features of a batch.
          quantiles: Puts numbers into buckets; None where no column is numeric.
        """
        numeric: list[tf.Tensor] = []
        if quantiles is not None:
            sizes = [column.size for column in self._columns if column.kind == "numeric"]
            found = quantiles.assign_buckets(self.read_numbers(batch))
            numeric = tf.split(found, sizes, 1)
        buckets = [
            numeric.pop(0) if column.kind == "numeric" else _assign_buckets(column, batch)
            for column in self._columns
        ]
        return tf.concat(buckets, 1) + self.first_bucket


def _describe(column: FeatureColumn, numeric_buckets: int) -> _Column:
    if hasattr(column, "boundaries") and hasattr(column, "source_column"):
        size = int(np.prod(column.source_column.shape))
        return _Column(column, "bucketized", column.name, size, len(column.boundaries) + 1)
    if is_numeric_column(column):
        size = int(np.prod(column.shape))
        return _Column(column, "numeric", column.name, size, numeric_buckets)
    if _is_indicator(column):
        size = int(column.variable_shape[-1])
        return _Column(column, "indicator", column.categorical_column.name, size, 2)
    # A weighted column and a sequence wrap another categorical column.
    if is_categorical(column) and not hasattr(column, "categorical_column"):
        return _Column(column, "categorical", column.name, 1, int(column.num_buckets) + 1)
    raise ValueError(
        "Boosted trees split on bucketized_column, numeric_column, indicator_column and "
        "categorical columns. For the values of a sparse or weighted column, or of one with "
        "several values for an example, use indicator_column; for an embedding, the column that "
        f"it embeds. Given (type {type(column)}): {column}"
    )


def _is_indicator(column: FeatureColumn) -> bool:
    return (
        hasattr(column, "categorical_column")
        and hasattr(column, "variable_shape")
        and not hasattr(column, "dimension")
    )


def _assign_buckets(column: _Column, batch: Batch) -> tf.Tensor:
    """Returns the buckets of a column's features, counted from 0, int32 [batch, size]."""
    if column.kind == "bucketized":
        return tf.cast(batch.assign_buckets(column.column), tf.int32)
    if column.kind == "indicator":
        return tf.cast(batch.dense([column.column]) > 0, tf.int32)
    return _read_single_values(column, batch)


def _read_single_values(column: _Column, batch: Batch) -> tf.Tensor:
    """Returns the value of a categorical column, or its last bucket if an example has no value."""
    ids = batch.compute_linear_input(column.column)
    if isinstance(ids, PaddedIds):
        return ids.get_first(default=column.buckets - 1)
    rows = tf.cast(ids.rows, tf.int32)
    one_each = tf.debugging.assert_less(
        tf.math.bincount(rows),
        2,
        f"{column.name} has several values for an example: wrap it with indicator_column",
    )
    with tf.control_dependencies([one_each]):
        missing = tf.fill([tf.cast(ids.batch, tf.int32)], column.buckets - 1)
    values = tf.cast(ids.values, tf.int32)
    return tf.tensor_scatter_nd_update(missing, rows[:, None], values)[:, None]


def look_up(values: Sequence[Any] | np.ndarray, places: tf.Tensor) -> tf.Tensor:
    """Returns the elements of a constant array at some indices."""
    return tf.gather(tf.constant(values), places)
