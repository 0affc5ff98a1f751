"""Feature columns of `tf.contrib.layers`, as those of `tf.feature_column`."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

_columns = tf.feature_column
# The key of features that are one tensor; their column was given no name.
ONLY_FEATURE = "x"
bucketized_column = _columns.bucketized_column
# The order of columns in an input: by the older names of their kinds, which begin with these.
_KINDS = ["Bucketized", "Embedding", "Indicator", "Numeric"]
_SPARSE_KINDS = ["Crossed", "Hashed", "Identity", "VocabularyList", "VocabularyFile", "Weighted"]


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
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: tf.DType = tf.string,
    hash_keys: Any = None,
) -> Any:
    """See `tf.feature_column.categorical_column_with_hash_bucket`.

    Raises:
      NotImplementedError: There are hash_keys.
    """
    if hash_keys is not None:
        raise NotImplementedError("hash_keys have no stand-in.")
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


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: tf.DType = tf.float32
) -> Any:
    """See `tf.feature_column.weighted_categorical_column`."""
    return _columns.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def crossed_column(
    columns: Any,
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """See `tf.feature_column.crossed_column`; of hashed columns the features are crossed.

    Raises:
      NotImplementedError: The weights are to come from a checkpoint.
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise NotImplementedError("Weights of a crossed_column from a checkpoint have no stand-in.")
    del combiner
    crossed = [c.key if _kind(c).startswith("Hashed") else c for c in columns]
    return _columns.crossed_column(crossed, hash_bucket_size, hash_key)


def one_hot_column(sparse_id_column: Any) -> Any:
    """See `tf.feature_column.indicator_column`."""
    return _columns.indicator_column(sparse_id_column)


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
    first_values = (initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return _columns.embedding_column(
        sparse_id_column, dimension, combiner, *first_values, max_norm, trainable
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
    cols_to_outs: dict[Any, tf.Tensor] | None = None,
) -> tf.Tensor:
    """See `tf.feature_column.input_layer`; the order and the names of variables are older.

    Args:
      columns_to_tensors: The features by their names.
      feature_columns: The columns.
      weight_collections: Collections for the variables.
      trainable: Whether they are trained.
      scope: Their scope.
      cols_to_outs: Gets the part of each column.

    Raises:
      ValueError: There are no columns, one is there twice, or one is sparse.
    """
    feature_columns = list(feature_columns)
    if len({column.name for column in feature_columns}) < len(feature_columns):
        raise ValueError("Duplicate feature column key found.")
    parts = {} if cols_to_outs is None else cols_to_outs
    default = "input_from_feature_columns"
    with tf.compat.v1.variable_scope(scope, default, custom_getter=_of_older_name):
        ordered = sorted(feature_columns, key=_order)
        for column in ordered:
            parts[column] = tf.compat.v1.feature_column.input_layer(
                dict(columns_to_tensors), [column], weight_collections, trainable
            )
        return tf.concat([parts[column] for column in ordered], 1)


def _of_older_name(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
    """The variable `words_embedding/weights`, which today is below `input_layer`."""
    name = re.sub(r"/input_layer(_\d+)?/", "/", name)
    return getter(name.replace("/embedding_weights", "/weights"), *args, **kwargs)


def _order(column: Any) -> tuple[int, int, str]:
    outer, inner = _kind(column), _kind(getattr(column, "categorical_column", None))
    kinds = [i for i, start in enumerate(_KINDS) if outer.startswith(start)]
    if not kinds:
        raise ValueError(f"Error creating input layer for column: {column.name}.")
    within = [i for i, start in enumerate(_SPARSE_KINDS) if inner.startswith(start)]
    return kinds[0], within[0] if within else 0, column.name


def _kind(column: Any) -> str:
    return type(column).__name__.lstrip("_")
