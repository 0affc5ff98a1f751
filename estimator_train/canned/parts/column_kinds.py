"""Kinds of feature columns, and the check of the argument `feature_columns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from estimator_train.canned.parts.argument_types import FeatureColumn, FeatureColumns
from estimator_train.engine.tf_internals import column_types

_V1_COLUMN = (
    "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please "
    "either use v2 feature columns (accessible via tf.feature_column.* in TF 2.x) with this "
    "Estimator, or switch to a v1 Estimator for use with v1 feature columns (accessible via "
    "tf.compat.v1.estimator.* and tf.compat.v1.feature_column.*, respectively."
)


def validate_columns(columns: FeatureColumns, *, v1: bool = False) -> list[Any]:
    """Returns feature columns in the order of their names.

    Args:
      columns: One or several columns.
      v1: Whether columns that exist in `tf.compat.v1.feature_column` alone are allowed.

    Raises:
      ValueError: There are no columns, one is not a column, or two have one name.
    """
    if isinstance(columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    found: list[Any] = [columns] if _is_column(columns) else list(cast("Any", columns) or ())
    if not found:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in found:
        if not _is_column(column):
            raise ValueError(
                f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): "
                f"{column}."
            )
        if not (v1 or _is_v2(column)):
            raise ValueError(_V1_COLUMN + f"). Given: {column}")
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {by_name[column.name]} and "
                f"{column}. This usually means that these columns refer to same base feature. "
                "Either one must be discarded or a duplicated but renamed item must be inserted "
                "in features dict."
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def has_v1_columns(columns: Sequence[FeatureColumn]) -> bool:
    """Returns whether some columns exist in `tf.compat.v1.feature_column` alone."""
    return not all(map(_is_v2, columns))


def check_kind(column: FeatureColumn, kind: type) -> None:
    """Checks that a column has the methods of a class of columns.

    Raises:
      ValueError: It has not.
    """
    if not isinstance(column, kind):
        raise ValueError(
            f"Items of feature_columns must be a {kind}. You can wrap a categorical column with "
            f"an embedding_column or indicator_column. Given: {column}"
        )


def _is_v2(column: object) -> bool:
    return isinstance(column, column_types.FeatureColumn)


def _is_column(column: object) -> bool:
    # The columns of v1 have no public class.
    return _is_v2(column) or hasattr(column, "_parse_example_spec")


def is_categorical(column: FeatureColumn) -> bool:
    """Returns whether a column converts its feature to ids."""
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def is_plain_embedding(column: FeatureColumn) -> bool:
    """Returns whether a column is an embedding, not shared, that `Ids` can look up."""
    return _computes_as(column, column_types.EmbeddingColumn) and _has_plain_lookup(column)


def is_shared_embedding(column: FeatureColumn) -> bool:
    """Returns whether a column is a shared embedding that `Ids` can look up."""
    kind = column_types.SharedEmbeddingColumn
    return _computes_as(column, kind) and _has_plain_lookup(column)


def _computes_as(column: FeatureColumn, kind: Any) -> bool:
    return getattr(type(column), "get_dense_tensor", None) is kind.get_dense_tensor


def _has_plain_lookup(column: FeatureColumn) -> bool:
    return (
        column.max_norm is None
        and column.use_safe_embedding_lookup
        and not hasattr(column.categorical_column, "get_sequence_sparse_tensors")
    )
