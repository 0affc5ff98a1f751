"""Stand-in for `tf.contrib.feature_column`: columns of sequences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.extension import ColumnBatch
from tf_contrib._types import TensorLike

_columns = tf.feature_column
_v1 = tf.compat.v1

__all__ = [
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer",
    "sequence_numeric_column",
]

sequence_categorical_column_with_hash_bucket = _columns.sequence_categorical_column_with_hash_bucket
sequence_categorical_column_with_identity = _columns.sequence_categorical_column_with_identity
sequence_categorical_column_with_vocabulary_file = (
    _columns.sequence_categorical_column_with_vocabulary_file
)
sequence_categorical_column_with_vocabulary_list = (
    _columns.sequence_categorical_column_with_vocabulary_list
)
sequence_numeric_column = _columns.sequence_numeric_column


def sequence_input_layer(
    features: Mapping[str, TensorLike],
    feature_columns: Iterable[Any],
    weight_collections: Sequence[str] | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Concatenates the sequences of several columns.

    Args:
      features: Features by name.
      feature_columns: Sequence columns, dense or embedded.
      weight_collections: Further collections for the embedding variables.

    Returns:
      The sequences, float of shape (batch, time, size), and their lengths, int64 of shape (batch,).
    """
    with _v1.variable_scope(None, "sequence_input_layer") as scope:
        columns = sorted(feature_columns, key=lambda column: column.name)
        sequences = ColumnBatch(features).sequence(columns)
    for variable in _v1.global_variables(scope.name):
        _v1.add_to_collections(weight_collections or (), variable)
    return sequences
