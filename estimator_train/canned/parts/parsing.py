"""Parsing specs of tf.Examples with the features, label and weight of a canned estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_train.canned.parts.argument_types import FeatureColumn
from estimator_train.heads.checks import is_numeric_column
from estimator_train.heads.types import WeightColumn


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
