"""Stand-in for `tf.contrib.lookup`: tables of a graph."""

import tensorflow as tf

from tf_contrib._types import DType, Table, TensorLike
from tf_contrib.lookup.hash_buckets import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
)

_UNKNOWN = "UNK"

KeyValueTensorInitializer = tf.lookup.KeyValueTensorInitializer
TextFileInitializer = tf.lookup.TextFileInitializer
TextFileIndex = tf.lookup.TextFileIndex
MutableHashTable = tf.lookup.experimental.MutableHashTable
MutableDenseHashTable = tf.lookup.experimental.DenseHashTable
__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "KeyValueTensorInitializer",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]


class HashTable(tf.compat.v1.lookup.StaticHashTable):
    """Table that an initializer fills.

    Args:
      initializer: Initializer of the table.
      default_value: Value of unknown keys.
      shared_name: Unused: each session has its own table.
      name: Name of the table.
    """

    def __init__(
        self,
        initializer: tf.lookup.KeyValueTensorInitializer | tf.lookup.TextFileInitializer,
        default_value: TensorLike,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        del shared_name
        super().__init__(initializer, default_value, name)

    @property
    def init(self) -> tf.Operation:
        """Operation that fills the table."""
        return self.initializer


class TextFileIdTableInitializer(tf.lookup.TextFileInitializer):
    """Initializer that maps the lines of a file to their numbers."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: tf.DType = tf.string,
    ) -> None:
        columns = (key_dtype, key_column_index, tf.int64, value_column_index)
        super().__init__(filename, *columns, vocab_size, delimiter, name)


class TextFileStringTableInitializer(tf.lookup.TextFileInitializer):
    """Initializer that maps line numbers to the lines of a file."""

    def __init__(
        self,
        filename: TensorLike,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        columns = (tf.int64, key_column_index, tf.string, value_column_index)
        super().__init__(filename, *columns, vocab_size, delimiter, name)


def index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: tf.DType = tf.string,
    name: str | None = None,
) -> HashTable | IdTableWithHashBuckets:
    """Creates a table of keys to their positions in a list.

    Args:
      mapping: Keys, a list or tensor of strings or integers.
      num_oov_buckets: Number of positions after the list; unknown keys are distributed over them by
        hash.
      default_value: Position of unknown keys if there are no buckets.
      hasher_spec: Hash function: `FastHashSpec` or a `StrongHashSpec`.
      dtype: Type of the keys.
      name: Name of the table.

    Returns:
      A table with the method `lookup`.

    Raises:
      ValueError: mapping is None or has another type than dtype.
      TypeError: dtype is neither string nor integer.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    key_type = _check_key_type(dtype)
    keys = tf.convert_to_tensor(mapping)
    if keys.dtype.is_integer != key_type.is_integer:
        raise ValueError(f"mapping must have dtype {dtype}, got {keys.dtype}.")
    keys = tf.cast(keys, key_type) if key_type.is_integer else keys
    positions = tf.range(tf.size(keys, out_type=tf.int64), dtype=tf.int64)
    initializer = KeyValueTensorInitializer(keys, positions)
    table = HashTable(initializer, default_value)
    return _add_buckets(table, num_oov_buckets, hasher_spec, dtype, name)


def index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: tf.DType = tf.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> HashTable | IdTableWithHashBuckets:
    """Creates a table of the lines of a file to their numbers, from 0.

    Args:
      vocabulary_file: Path of the file.
      num_oov_buckets: See `index_table_from_tensor`.
      vocab_size: Number of lines to read; by default all.
      default_value: See `index_table_from_tensor`.
      hasher_spec: See `index_table_from_tensor`.
      key_dtype: Type of the keys.
      name: Name of the table.
      key_column_index: Column of the key, if it is not the whole line.
      value_column_index: Column of the position, if it is not the line number.
      delimiter: Separator of columns.

    Returns:
      A table with the method `lookup`.

    Raises:
      ValueError: vocabulary_file is missing, or vocab_size is not positive.
      TypeError: key_dtype is neither string nor integer.
    """
    if not vocabulary_file and not isinstance(vocabulary_file, tf.Tensor):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    columns = (key_column_index, value_column_index, vocab_size, delimiter)
    initializer = TextFileIdTableInitializer(
        vocabulary_file, *columns, key_dtype=_check_key_type(key_dtype)
    )
    table = HashTable(initializer, default_value)
    return _add_buckets(table, num_oov_buckets, hasher_spec, key_dtype, name)


def index_to_string_table_from_tensor(
    mapping: TensorLike, default_value: str = _UNKNOWN, name: str | None = None
) -> HashTable:
    """Creates a table of positions to the strings of a list.

    Args:
      mapping: Strings.
      default_value: String of unknown positions.
      name: Name of the table.

    Raises:
      ValueError: mapping is None.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    strings = tf.convert_to_tensor(mapping, tf.string)
    positions = tf.range(tf.size(strings, out_type=tf.int64), dtype=tf.int64)
    return HashTable(KeyValueTensorInitializer(positions, strings), default_value, name=name)


def index_to_string_table_from_file(
    vocabulary_file: TensorLike,
    vocab_size: int | None = None,
    default_value: str = _UNKNOWN,
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> HashTable:
    """Creates a table of line numbers to the lines of a file; see `index_table_from_file`.

    Raises:
      ValueError: vocabulary_file is missing.
    """
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified.")
    columns = (key_column_index, value_column_index, vocab_size, delimiter)
    initializer = TextFileStringTableInitializer(vocabulary_file, *columns)
    return HashTable(initializer, default_value, name=name)


def string_to_index(
    tensor: TensorLike, mapping: TensorLike, default_value: int = -1, name: str | None = None
) -> tf.Tensor:
    """Returns the positions of strings in a list; see `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, 0, default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: TensorLike, mapping: TensorLike, default_value: str = _UNKNOWN, name: str | None = None
) -> tf.Tensor:
    """Returns the strings at positions of a list; see `index_to_string_table_from_tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index_table_from_file(
    vocabulary_file: TensorLike | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> HashTable | IdTableWithHashBuckets:
    """See `index_table_from_file`."""
    return index_table_from_file(
        vocabulary_file=vocabulary_file,
        num_oov_buckets=num_oov_buckets,
        vocab_size=vocab_size,
        default_value=default_value,
        hasher_spec=hasher_spec,
        name=name,
    )


def string_to_index_table_from_tensor(
    mapping: TensorLike,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> HashTable | IdTableWithHashBuckets:
    """See `index_table_from_tensor`."""
    return index_table_from_tensor(
        mapping=mapping,
        num_oov_buckets=num_oov_buckets,
        default_value=default_value,
        hasher_spec=hasher_spec,
        name=name,
    )


def _check_key_type(dtype: DType) -> tf.DType:
    dtype = tf.as_dtype(dtype)
    if dtype != tf.string and not dtype.is_integer:
        raise TypeError(f"Keys must be strings or integers, got {dtype}.")
    return tf.int64 if dtype.is_integer else dtype


def _add_buckets(
    table: Table, count: int, hasher: HasherSpec, key_dtype: DType, name: str | None
) -> HashTable | IdTableWithHashBuckets:
    if count < 0:
        raise ValueError(f"num_oov_buckets must be 0 or more, got {count}.")
    return IdTableWithHashBuckets(table, count, hasher, name, key_dtype) if count else table
