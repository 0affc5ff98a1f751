"""Feature columns of `tf.contrib.layers`, as those of `tf.feature_column`."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

_columns = tf.feature_column
# The key of features that are one tensor; their column was given no name.
ONLY_FEATURE = "x"
bucketized_column = _columns.bucketized_column
crossed_column = _columns.crossed_column
one_hot_column = _columns.indicator_column


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: tf.DType = tf.float32,
    normalizer: Any = None,
) -> Any:
    """See `tf.feature_column.numeric_column`."""
    name = column_name or ONLY_FEATURE
    return _columns.numeric_column(name, (dimension,), default_value, dtype, normalizer)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: tf.DType = tf.string
) -> Any:
    """See `tf.feature_column.categorical_column_with_hash_bucket`."""
    del combiner
    return _columns.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: tf.DType = tf.string,
) -> Any:
    """See `tf.feature_column.categorical_column_with_vocabulary_list`."""
    del combiner
    return _columns.categorical_column_with_vocabulary_list(column_name, keys, dtype, default_value)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: tf.DType = tf.string,
) -> Any:
    """See `tf.feature_column.categorical_column_with_vocabulary_file`."""
    del combiner
    default = None if num_oov_buckets else default_value
    return tf.compat.v1.feature_column.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtype
    )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: tf.DType = tf.int64
) -> Any:
    """See `tf.feature_column.categorical_column_with_identity`."""
    del combiner, dtype
    return _columns.categorical_column_with_identity(column_name, bucket_size)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """See `tf.feature_column.embedding_column`."""
    return _columns.embedding_column(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


def create_feature_spec_for_parsing(feature_columns: Any) -> Mapping[str, Any]:
    """See `tf.feature_column.make_parse_example_spec`."""
    return _columns.make_parse_example_spec(list(feature_columns))


def input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """See `tf.feature_column.input_layer`."""
    with tf.compat.v1.variable_scope(scope, "input_from_feature_columns"):
        return tf.compat.v1.feature_column.input_layer(
            dict(columns_to_tensors), list(feature_columns), weight_collections, trainable
        )
