"""`tf.contrib.lookup`: tables of a graph by their old functions."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1.lookup
_OTHER = "UNK"

HashTable = _v1.StaticHashTable
KeyValueTensorInitializer = tf.lookup.KeyValueTensorInitializer
TextFileInitializer = tf.lookup.TextFileInitializer
TextFileIndex = tf.lookup.TextFileIndex
MutableHashTable = tf.lookup.experimental.MutableHashTable
MutableDenseHashTable = tf.lookup.experimental.DenseHashTable
__all__ = [
    "HashTable",
    "KeyValueTensorInitializer",
    "MutableHashTable",
    "TextFileIndex",
    "TextFileInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
]


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = None,
    dtype: tf.DType = tf.string,
    name: str | None = None,
) -> Any:
    """A table from keys to their positions in a list.

    Args:
      mapping: The keys, a list or tensor of strings or integers.
      num_oov_buckets: Positions after those, over which other keys are spread by their hash.
      default_value: The position of other keys, where there are no such.
      hasher_spec: Not supported: the hash is always the fast one.
      dtype: The type of the keys.
      name: Name of the table.

    Returns:
      A table with `lookup`.

    Raises:
      ValueError: mapping is None.
    """
    del hasher_spec
    if mapping is None:
        raise ValueError("mapping must be specified.")
    integers = tf.as_dtype(dtype).is_integer
    keys = tf.convert_to_tensor(mapping)
    keys = tf.cast(keys, tf.int64) if integers else keys
    positions = tf.range(tf.size(keys, out_type=tf.int64), dtype=tf.int64)
    initializer = KeyValueTensorInitializer(keys, positions)
    return _index_table(initializer, num_oov_buckets, default_value, dtype, name)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = None,
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
    """
    del hasher_spec
    if not vocabulary_file and not isinstance(vocabulary_file, tf.Tensor):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    key_type = tf.int64 if tf.as_dtype(key_dtype).is_integer else tf.string
    initializer = TextFileInitializer(
        vocabulary_file,
        key_type,
        key_column_index,
        tf.int64,
        value_column_index,
        vocab_size,
        delimiter,
    )
    return _index_table(initializer, num_oov_buckets, default_value, key_dtype, name)


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
    initializer = TextFileInitializer(
        vocabulary_file,
        tf.int64,
        key_column_index,
        tf.string,
        value_column_index,
        vocab_size,
        delimiter,
    )
    return HashTable(initializer, default_value, name=name)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: Any = None) -> Any:
    """The positions of strings in a list; see `index_table_from_tensor`."""
    return index_table_from_tensor(mapping, 0, default_value, name=name).lookup(tensor)


class _IntegerKeys:
    """Looks keys of any integer type up in a table of int64."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The positions of keys."""
        return self._table.lookup(tf.cast(keys, tf.int64), name=name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)


def _index_table(
    initializer: Any, num_oov_buckets: int, default_value: int, dtype: Any, name: str | None
) -> Any:
    dtype = tf.as_dtype(dtype)
    if num_oov_buckets:
        return _v1.StaticVocabularyTable(
            initializer, num_oov_buckets, lookup_key_dtype=dtype, name=name
        )
    table = HashTable(initializer, default_value, name=name)
    return _IntegerKeys(table) if dtype.is_integer and dtype != tf.int64 else table
