"""From feature columns to the bucket ids that trees split on.

Each number of a column is one feature, and each value of a feature is one bucket. The buckets of
all features share one numbering, so that a bucket id identifies a feature and its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.canned.boosted_trees.quantiles import Quantiles
from estimator_train.canned.boosted_trees.settings import Settings
from estimator_train.canned.parts.argument_types import FeatureColumn, FeatureColumns
from estimator_train.canned.parts.column_kinds import is_categorical, validate_columns
from estimator_train.canned.parts.columns import Batch
from estimator_train.heads.checks import is_numeric_column


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

    def compute_bucket_ids(self, batch: Batch, quantiles: Quantiles | None) -> tf.Tensor:
        """Returns the number of the bucket of each feature, int32 [batch, features].

        Args:
          batch: The features of a batch.
          quantiles: Puts numbers into buckets; None where no column is numeric.
        """
        numeric: list[tf.Tensor] = []
        if quantiles is not None:
            sizes = [column.size for column in self._columns if column.kind == "numeric"]
            numeric = tf.split(quantiles.assign_buckets(self.read_numbers(batch)), sizes, 1)
        found = [
            numeric.pop(0) if column.kind == "numeric" else _assign_buckets(column, batch)
            for column in self._columns
        ]
        return tf.concat(found, 1) + self.first_bucket


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
