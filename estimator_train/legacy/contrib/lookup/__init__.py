"""`tf.contrib.lookup`: tables of a graph by their old functions."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib.lookup.hash_buckets import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
)

_OTHER = "UNK"

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
    """A table that an initializer fills.

    Args:
      initializer: The initializer.
      default_value: What keys stand for that it does not have.
      shared_name: Unused: sessions have their own tables.
      name: Name of the table.
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        del shared_name
        super().__init__(initializer, default_value, name)

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer


class TextFileIdTableInitializer(tf.lookup.TextFileInitializer):
    """From the lines of a file to their numbers; see `index_table_from_file`."""

    def __init__(
        self,
        filename: Any,
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
    """From numbers of lines to the lines of a file; see `index_to_string_table_from_file`."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        columns = (tf.int64, key_column_index, tf.string, value_column_index)
        super().__init__(filename, *columns, vocab_size, delimiter, name)


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    dtype: tf.DType = tf.string,
    name: str | None = None,
) -> Any:
    """A table from keys to their positions in a list.

    Args:
      mapping: The keys, a list or tensor of strings or integers.
      num_oov_buckets: Positions after those, over which other keys are spread by their hash.
      default_value: The position of other keys, where there are no such.
      hasher_spec: The hash: `FastHashSpec` or a `StrongHashSpec`.
      dtype: The type of the keys.
      name: Name of the table.

    Returns:
      A table with `lookup`.

    Raises:
      ValueError: mapping is None, or of another type than keys.
      TypeError: Keys are neither strings nor integers.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    key_type = _key_type(dtype)
    keys = tf.convert_to_tensor(mapping)
    if keys.dtype.is_integer != key_type.is_integer:
        raise ValueError(f"mapping must be of {dtype}, is of {keys.dtype}.")
    keys = tf.cast(keys, key_type) if key_type.is_integer else keys
    positions = tf.range(tf.size(keys, out_type=tf.int64), dtype=tf.int64)
    initializer = KeyValueTensorInitializer(keys, positions)
    table = HashTable(initializer, default_value)
    return _with_buckets(table, num_oov_buckets, hasher_spec, dtype, name)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: tf.DType = tf.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the lines of a file to their numbers, from 0.

    Args:
      vocabulary_file: The file.
      num_oov_buckets: As for `index_table_from_tensor`.
      vocab_size: The number of lines to take; by default all.
      default_value: As for `index_table_from_tensor`.
      hasher_spec: The same.
      key_dtype: The type of the keys.
      name: Name of the table.
      key_column_index: The column with the key, if not all of the line.
      value_column_index: The column with the position, if not the line's number.
      delimiter: What stands between columns.

    Returns:
      A table with `lookup`.

    Raises:
      ValueError: There is no file given, or vocab_size is not positive.
      TypeError: Keys are neither strings nor integers.
    """
    if not vocabulary_file and not isinstance(vocabulary_file, tf.Tensor):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    columns = (key_column_index, value_column_index, vocab_size, delimiter)
    initializer = TextFileIdTableInitializer(
        vocabulary_file, *columns, key_dtype=_key_type(key_dtype)
    )
    table = HashTable(initializer, default_value)
    return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype, name)


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = _OTHER, name: str | None = None
) -> Any:
    """A table from positions to the strings of a list.

    Args:
      mapping: The strings.
      default_value: What other positions stand for.
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
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: str = _OTHER,
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> Any:
    """A table from numbers of lines to the lines of a file; see `index_table_from_file`.

    Raises:
      ValueError: There is no file given.
    """
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified.")
    columns = (key_column_index, value_column_index, vocab_size, delimiter)
    initializer = TextFileStringTableInitializer(vocabulary_file, *columns)
    return HashTable(initializer, default_value, name=name)


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """The positions of strings in a list; see `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, 0, default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: str = _OTHER, name: str | None = None
) -> Any:
    """The strings at positions of a list; see `index_to_string_table_from_tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """See `index_table_from_file`."""
    return index_table_from_file(**locals())


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    name: str | None = None,
) -> Any:
    """See `index_table_from_tensor`."""
    return index_table_from_tensor(**locals())


def _key_type(dtype: Any) -> tf.DType:
    dtype = tf.as_dtype(dtype)
    if dtype != tf.string and not dtype.is_integer:
        raise TypeError(f"Keys must be strings or integers, not {dtype}.")
    return tf.int64 if dtype.is_integer else dtype


def _with_buckets(table: Any, count: int, hasher: HasherSpec, key_dtype: Any, name: Any) -> Any:
    if count < 0:
        raise ValueError(f"num_oov_buckets must be 0 or more, got {count}.")
    return IdTableWithHashBuckets(table, count, hasher, name, key_dtype) if count else table
