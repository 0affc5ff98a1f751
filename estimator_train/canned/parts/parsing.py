"""How tf.Examples are parsed that hold the features, label and weight of a canned estimator."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: tf.DType = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns what `tf.io.parse_example` needs to read the examples of a classifier.

        spec = classifier_parse_example_spec([age, job], label_key="income")
        dataset = tf.data.experimental.make_batched_features_dataset(
            "data-*", 32, spec, label_key="income")

    Args:
      feature_columns: The estimator's columns.
      label_key: Name of the label in the examples.
      label_dtype: Its type; `tf.string` for classifiers with a label_vocabulary.
      label_default: The label of examples that have none; without it they are an error.
      weight_column: Name of the weight in the examples, or a numeric column of it.

    Raises:
      ValueError: Label or weight are among the features, a column is none, or weight_column is
        of another type.
    """
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: tf.DType = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Returns what `tf.io.parse_example` needs to read the examples of a regressor.

    Args:
      feature_columns: The estimator's columns.
      label_key: Name of the label in the examples.
      label_dtype: Its type.
      label_default: The label of examples that have none; without it they are an error.
      label_dimension: Numbers in a label.
      weight_column: Name of the weight in the examples, or a numeric column of it.

    Raises:
      ValueError: As `classifier_parse_example_spec`.
    """
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(columns: Any, key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    columns = list(columns)
    has_v1 = any(_is_of_v1(column) for column in columns)
    module = tf.compat.v1.feature_column if has_v1 else tf.feature_column
    spec = module.make_parse_example_spec(columns)
    if key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {key}, features: {spec.keys()}"
        )
    spec[key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not (hasattr(weight_column, "key") and hasattr(weight_column, "normalizer_fn")):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            "weight_column should not be used as feature. weight_column: "
            f"{weight_column.key}, features: {spec.keys()}"
        )
    spec.update(weight_column.parse_example_spec)
    return spec


def _is_of_v1(column: Any) -> bool:
    return hasattr(column, "_parse_example_spec") and not hasattr(column, "parse_example_spec")
