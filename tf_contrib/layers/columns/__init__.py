"""Feature columns of `tf.contrib.layers`, as columns of `tf.feature_column`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections, Column, Initializer, Scope

_columns = tf.feature_column
_v1 = tf.compat.v1
# Key of the only feature if the features are a tensor. Its column, and hence the scope of its
# variables, has no name in TensorFlow 1, which today's columns do not allow.
ONLY_FEATURE = "the.only.feature"
bucketized_column = _columns.bucketized_column
# tf.contrib sorted columns by class name; these are the starts of today's names in that order.
_KINDS = ["Bucketized", "Embedding", "SharedEmbedding", "Indicator", "Numeric"]
_SPARSE_KINDS = ["Crossed", "Hashed", "Identity", "VocabularyList", "VocabularyFile", "Weighted"]


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: float | Sequence[float] | None = None,
    dtype: tf.DType = tf.float32,
    normalizer: Callable[[tf.Tensor], tf.Tensor] | None = None,
) -> Column:
    """See `tf.feature_column.numeric_column`."""
    name = column_name or ONLY_FEATURE
    return _columns.numeric_column(name, (dimension,), default_value, dtype, normalizer)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: tf.DType = tf.string,
    hash_keys: object = None,
) -> Column:
    """Creates a hashed column; see `tf.feature_column.categorical_column_with_hash_bucket`.

    Raises:
      NotImplementedError: hash_keys are given.
    """
    if hash_keys is not None:
        raise NotImplementedError("hash_keys are not supported: remove them.")
    del combiner
    return _columns.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: tf.DType = tf.string,
) -> Column:
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
) -> Column:
    """See `tf.feature_column.categorical_column_with_vocabulary_file`."""
    del combiner
    default = None if num_oov_buckets else default_value
    return _v1.feature_column.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, default, dtype
    )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: tf.DType = tf.int64
) -> Column:
    """See `tf.feature_column.categorical_column_with_identity`."""
    del combiner, dtype
    return _columns.categorical_column_with_identity(column_name, bucket_size)


def weighted_sparse_column(
    sparse_id_column: Column, weight_column_name: str, dtype: tf.DType = tf.float32
) -> Column:
    """See `tf.feature_column.weighted_categorical_column`."""
    return _columns.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def crossed_column(
    columns: Iterable[Column],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Column:
    """Creates a crossed column; see `tf.feature_column.crossed_column`.

    Columns are crossed in the order of their names, and columns of words by their words. Without
    a hash_key, the ids are not those of TensorFlow 1, whose operation is not available.

    Raises:
      NotImplementedError: Weights from a checkpoint are requested.
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise NotImplementedError("crossed_column cannot read its weights from a checkpoint.")
    del combiner
    ordered = sorted(columns, key=lambda column: column.name)
    keys = [c.key if class_name(c).startswith(("Hashed", "Vocabulary")) else c for c in ordered]
    return _columns.crossed_column(keys, hash_bucket_size, hash_key)


def one_hot_column(sparse_id_column: Column) -> Column:
    """See `tf.feature_column.indicator_column`."""
    return _columns.indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: Column,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Column:
    """See `tf.feature_column.embedding_column`."""
    initial_weights = (initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return _columns.embedding_column(
        sparse_id_column, dimension, combiner, *initial_weights, max_norm, trainable
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Column],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[Column]:
    """Creates columns with one embedding; see `tf.compat.v1.feature_column`.

    Raises:
      TypeError: sparse_id_columns is no list of columns.
      ValueError: There are no columns, or they have different numbers of ids.
    """
    if isinstance(sparse_id_columns, (str, bytes)) or not isinstance(sparse_id_columns, Sequence):
        raise TypeError(f"sparse_id_columns must be a list of columns, got {sparse_id_columns!r}.")
    if not sparse_id_columns:
        raise ValueError("sparse_id_columns must have a column.")
    return _v1.feature_column.shared_embedding_columns(
        list(sparse_id_columns),
        dimension,
        combiner,
        initializer,
        shared_embedding_name,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


def create_feature_spec_for_parsing(feature_columns: Iterable[Column]) -> Mapping[str, Any]:
    """See `tf.feature_column.make_parse_example_spec`."""
    return _columns.make_parse_example_spec(list(feature_columns))


def input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Column],
    weight_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    cols_to_outs: dict[Any, tf.Tensor] | None = None,
) -> tf.Tensor:
    """Concatenates the tensors of dense columns; see `tf.feature_column.input_layer`.

    The order of the columns and the names of variables are those of tf.contrib.

    Args:
      columns_to_tensors: Features by name.
      feature_columns: Columns.
      weight_collections: Collections of the variables.
      trainable: Whether the variables are trained.
      scope: Variable scope.
      cols_to_outs: Dict to fill with the tensor of each column.

    Raises:
      ValueError: There are no columns, two columns have one name, or a column is sparse.
    """
    ordered = sorted(check_names(feature_columns), key=_sort_key)
    parts = {} if cols_to_outs is None else cols_to_outs
    features = select_features(columns_to_tensors)
    default = "input_from_feature_columns"
    with _v1.variable_scope(scope, default):
        for column in ordered:
            # A later column gets the variable of a shared embedding from the first one.
            with _v1.variable_scope(
                _v1.get_variable_scope(), custom_getter=_create_old_name_getter(column)
            ):
                parts[column] = _v1.feature_column.input_layer(
                    features, [column], weight_collections, trainable
                )
        return tf.concat([parts[column] for column in ordered], 1)


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Column],
    weight_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> tf.Tensor:
    """Does the same as `input_from_feature_columns` for each step of sequences.

    Args:
      columns_to_tensors: Features by name, of shape [batch_size, steps, values].
      feature_columns: Columns.
      weight_collections: Collections of the variables.
      trainable: Whether the variables are trained.
      scope: Variable scope.

    Returns:
      A tensor of shape [batch_size, steps, values].
    """
    features = select_features(columns_to_tensors)
    columns = check_names(feature_columns)
    names = [key for key in create_feature_spec_for_parsing(columns) if key in features]
    leading = _find_leading_shape([features[name] for name in names])
    steps = {name: _join_steps(features[name]) for name in names}
    with _v1.variable_scope(scope, "sequence_input_from_feature_columns") as opened:
        output = input_from_feature_columns(
            steps, columns, weight_collections, trainable, scope=opened
        )
        return tf.reshape(output, tf.concat([leading, [output.shape[1]]], 0))


def _find_leading_shape(tensors: Iterable[tf.Tensor | tf.SparseTensor]) -> tf.Tensor:
    """Returns the batch size and the number of steps."""
    first = next(iter(tensors))
    return tf.cast(tf.shape(first)[:2], tf.int32)


def _join_steps(tensor: tf.Tensor | tf.SparseTensor) -> tf.Tensor | tf.SparseTensor:
    """Makes a row of each step of each sequence."""
    if isinstance(tensor, tf.SparseTensor):
        shape = tensor.dense_shape
        return tf.sparse.reshape(tensor, [shape[0] * shape[1], shape[2]])
    return tf.reshape(tensor, [-1, *tensor.shape[2:]])


def check_names(feature_columns: Iterable[Column]) -> list[Column]:
    """Returns the columns as a list.

    Raises:
      ValueError: Two columns have one name.
    """
    columns = list(feature_columns)
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("Duplicate feature column key found.")
    return columns


def select_features(columns_to_tensors: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns the features without the tensors of columns, which are computed again."""
    return {key: tensor for key, tensor in columns_to_tensors.items() if isinstance(key, str)}


def _create_old_name_getter(column: Column) -> Callable[..., tf.Variable]:
    """Returns a getter of variables without the scope `input_layer`.

    Names are for example `words_embedding/weights`.
    """
    shared = getattr(column, "shared_embedding_collection_name", None)
    scope, variable = "", "weights"
    if shared:
        scope, variable = f"/{column.categorical_column.name}_shared_embedding", shared

    def get_under_old_name(
        getter: Callable[..., tf.Variable], name: str, *args: Any, **kwargs: Any
    ) -> tf.Variable:
        name = re.sub(r"/input_layer(_\d+)?/", "/", name)
        if shared:
            name = name.replace(f"/{shared}/", f"{scope}/")
        return getter(name.replace("/embedding_weights", f"/{variable}"), *args, **kwargs)

    return get_under_old_name


def _sort_key(column: Column) -> tuple[int, int, str]:
    outer, inner = class_name(column), class_name(getattr(column, "categorical_column", None))
    kinds = [i for i, start in enumerate(_KINDS) if outer.startswith(start)]
    if not kinds:
        raise ValueError(f"Error creating input layer for column: {column.name}.")
    inner_kinds = [i for i, start in enumerate(_SPARSE_KINDS) if inner.startswith(start)]
    return kinds[0], inner_kinds[0] if inner_kinds else 0, column.name


def class_name(column: Column | None) -> str:
    """Returns the name of a column's class without its underscore."""
    return type(column).__name__.lstrip("_")
