"""Features that the columns of `tf.contrib.layers` parse and transform."""

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Column, TensorLike
from tf_contrib.layers.columns import (
    check_names,
    class_name,
    create_feature_spec_for_parsing,
    real_valued_column,
)

_v1 = tf.compat.v1


class TransformedFeatures:
    """Cache of the tensors of columns, which `transform_feature` of a column asks for others.

    Args:
      features: Features by name.
    """

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self._tensors = dict(features)

    def get(
        self, key: str | Column, state_manager: object = None, training: object = None
    ) -> tf.Tensor | tf.SparseTensor:
        """Returns the tensor of a feature or of a column.

        Raises:
          ValueError: There is no feature of the name.
        """
        if isinstance(key, str):
            if key not in self._tensors:
                raise ValueError(f"Feature {key} is not in features dictionary.")
            return self._tensors[key]
        if key not in self._tensors:
            # One-hot columns and embeddings have the ids of their sparse columns.
            has_ids = not class_name(key).startswith("Weighted")
            column: Column = getattr(key, "categorical_column", key) if has_ids else key
            self._tensors[key] = column.transform_feature(self, state_manager)
        return self._tensors[key]


def check_feature_columns(feature_columns: Iterable[Column]) -> None:
    """Raises ValueError if two columns have one name."""
    check_names(feature_columns)


def transform_features(
    features: Mapping[str, Any], feature_columns: Iterable[Column]
) -> dict[Column, Any]:
    """Returns the tensor of each column: numbers, or the ids of a sparse column.

    Raises:
      ValueError: Two columns have one name, or a feature is missing.
    """
    columns = check_names(feature_columns)
    cache = TransformedFeatures(features)
    return {column: cache.get(column) for column in sorted(columns, key=lambda one: one.name)}


def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[Column],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[Any, Any]:
    """Parses tf.Examples and transforms their features.

    Args:
      serialized: Serialized tf.Examples, of shape [batch_size].
      feature_columns: Columns.
      name: Name of the operation.
      example_names: Names of the examples, for errors.

    Returns:
      Features by name, and the tensor of each column.
    """
    columns = check_names(feature_columns)
    spec = create_feature_spec_for_parsing(columns)
    features = _v1.io.parse_example(serialized, spec, name=name, example_names=example_names)
    return features | transform_features(features, columns)


def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike,
    context_feature_columns: Iterable[Column] | None,
    sequence_feature_columns: Iterable[Column] | None,
    name: str | None = None,
    example_name: TensorLike | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one tf.SequenceExample; `sequence_input_from_feature_columns` transforms batches.

    Args:
      serialized: Serialized tf.SequenceExample, a scalar.
      context_feature_columns: Columns of features of the complete example.
      sequence_feature_columns: Columns of features of each step.
      name: Name of the operation.
      example_name: Name of the example, for errors.

    Returns:
      Features of the example and features of its steps, by name.
    """
    context = check_names(context_feature_columns or ())
    sequence = check_names(sequence_feature_columns or ())
    steps = {
        key: tf.io.FixedLenSequenceFeature(one.shape, one.dtype)
        if isinstance(one, tf.io.FixedLenFeature)
        else one
        for key, one in create_feature_spec_for_parsing(sequence).items()
    }
    return _v1.io.parse_single_sequence_example(
        serialized, create_feature_spec_for_parsing(context), steps, example_name, name
    )


def make_place_holder_tensors_for_base_features(
    feature_columns: Iterable[Column],
) -> dict[str, Any]:
    """Returns a placeholder for each feature that the columns parse, by name."""
    spec = create_feature_spec_for_parsing(feature_columns)
    return {
        key: _v1.sparse_placeholder(one.dtype, name=f"Placeholder_{key}")
        if isinstance(one, tf.io.VarLenFeature)
        else _v1.placeholder(one.dtype, [None, *one.shape], name=f"Placeholder_{key}")
        for key, one in spec.items()
    }


def infer_real_valued_columns(features: Any) -> list[Column]:
    """Creates columns for features with the shape [examples, values], a tensor or a dict of them.

    Raises:
      ValueError: A feature is sparse or not numeric.
    """
    by_name = features if isinstance(features, Mapping) else {"": features}
    return [_infer_column(name, values) for name, values in by_name.items()]


def _infer_column(name: str, values: Any) -> Column:
    dtype = tf.as_dtype(values.dtype)
    if isinstance(values, tf.SparseTensor) or not (dtype.is_floating or dtype.is_integer):
        kind = f"{'sparse ' if isinstance(values, tf.SparseTensor) else ''}{dtype.name}"
        raise ValueError(f"Feature '{name}' must be numeric, got {kind}: define its column.")
    dimension = values.shape[1] if len(values.shape) > 1 else 1
    return real_valued_column(name, dimension=int(dimension), dtype=dtype)
