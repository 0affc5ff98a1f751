"""Kinds of feature columns, and the specs by which examples are parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import tensorflow as tf

from estimator_train.canned.arguments import FeatureColumn, FeatureColumns
from estimator_train.engine.portability import has_sequences
from estimator_train.engine.tf_internals import column_types
from estimator_train.heads.checks import is_numeric_column
from estimator_train.heads.keys import WeightColumn

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
    """Returns whether a column is an embedding, not shared, whose rows are used as they are."""
    return _computes_as(column, column_types.EmbeddingColumn) and _has_plain_lookup(column)


def is_shared_embedding(column: FeatureColumn) -> bool:
    """Returns whether a column is a shared embedding whose rows are used as they are."""
    kind = column_types.SharedEmbeddingColumn
    return _computes_as(column, kind) and _has_plain_lookup(column)


def is_indicator(column: FeatureColumn) -> bool:
    """Returns whether a column counts the ids of a categorical column."""
    return _computes_as(column, column_types.IndicatorColumn)


def is_sequence(column: FeatureColumn) -> bool:
    """Returns whether the categorical column of a column has sequences of ids."""
    return has_sequences(getattr(column, "categorical_column", None))


def _computes_as(column: FeatureColumn, kind: Any) -> bool:
    return getattr(type(column), "get_dense_tensor", None) is kind.get_dense_tensor


def _has_plain_lookup(column: FeatureColumn) -> bool:
    return column.max_norm is None and column.use_safe_embedding_lookup


def classifier_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: tf.DType = tf.int64,
    label_default: Any = None,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """Returns the features argument of `tf.io.parse_example` for a classifier.

        spec = classifier_parse_example_spec([age, job], label_key="income")
        dataset = tf.data.experimental.make_batched_features_dataset(
            "data-*", 32, spec, label_key="income")

    Args:
      feature_columns: The estimator's columns.
      label_key: Name of the label in the examples.
      label_dtype: Its type; `tf.string` for classifiers with a label_vocabulary.
      label_default: Label of examples without a label; by default these are an error.
      weight_column: Name or numeric column of the weight in the examples.

    Raises:
      ValueError: Label or weight are among the features, or a column or weight_column is of a
        wrong type.
    """
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _add_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[FeatureColumn],
    label_key: str,
    label_dtype: tf.DType = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: WeightColumn = None,
) -> dict[str, Any]:
    """Returns the features argument of `tf.io.parse_example` for a regressor.

    Args:
      feature_columns: The estimator's columns.
      label_key: Name of the label in the examples.
      label_dtype: Its type.
      label_default: Label of examples without a label; by default these are an error.
      label_dimension: Numbers in a label.
      weight_column: Name or numeric column of the weight in the examples.

    Raises:
      ValueError: As `classifier_parse_example_spec`.
    """
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _add_label(feature_columns, label_key, label, weight_column)


def _add_label(
    columns: Iterable[FeatureColumn], key: str, label: Any, weight_column: WeightColumn
) -> dict[str, Any]:
    columns = list(columns)
    has_v1 = any(map(_is_v1_only, columns))
    module = tf.compat.v1.feature_column if has_v1 else tf.feature_column
    spec = module.make_parse_example_spec(columns)
    if key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {key}, features: {spec.keys()}"
        )
    spec[key] = label
    if weight_column is None:
        return spec
    is_name = isinstance(weight_column, str)
    column: Any = tf.feature_column.numeric_column(weight_column) if is_name else weight_column
    if not is_numeric_column(column):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(column)} value: {column}"
        )
    if column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {column.key}, "
            f"features: {spec.keys()}"
        )
    spec.update(column.parse_example_spec)
    return spec


def _is_v1_only(column: FeatureColumn) -> bool:
    return hasattr(column, "_parse_example_spec") and not hasattr(column, "parse_example_spec")
