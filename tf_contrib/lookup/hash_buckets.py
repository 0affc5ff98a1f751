"""Hash buckets for keys that a table of `tf.contrib.lookup` lacks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import DType, Table, TensorLike


class HasherSpec(NamedTuple):
    """Hash function of strings: its name and its key, if it has one."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """Hash function whose results are unpredictable without the key.

    Args:
      key: Two integers.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> "StrongHashSpec":
        """Checks the key.

        Raises:
          ValueError: The key does not have two elements.
          TypeError: An element is not an integer.
        """
        if len(key) != 2:
            raise ValueError(f"key must be two integers, got {key}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"key must be two integers, got {key}.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets:
    """Table that assigns unknown keys to positions after those of another table.

    Args:
      table: Table of known keys to int64, or None.
      num_oov_buckets: Number of positions for unknown keys.
      hasher_spec: Hash function.
      name: Name of the operations.
      key_dtype: Type of the keys; by default that of the table, or string.
    """

    def __init__(
        self,
        table: Table | None,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: DType | None = None,
    ) -> None:
        self._table, self._buckets, self._hasher = table, num_oov_buckets, hasher_spec
        self.name = name or "hash_bucket"
        self.key_dtype = tf.as_dtype(key_dtype or (table.key_dtype if table else tf.string))
        self.value_dtype = tf.int64

    @property
    def initializer(self) -> tf.Operation:
        """Operation that fills the table."""
        return self._table.initializer if self._table else tf.no_op()

    init = initializer

    def size(self, name: str | None = None) -> tf.Tensor:
        """Returns the number of all positions."""
        known_size = self._table.size() if self._table else tf.constant(0, tf.int64)
        return tf.add(known_size, self._buckets, name=name)

    def lookup(
        self, keys: TensorLike | tf.SparseTensor, name: str | None = None
    ) -> tf.Tensor | tf.SparseTensor:
        """Returns the positions of keys.

        Args:
          keys: Tensor or SparseTensor.
          name: Name of the operation.

        Raises:
          TypeError: The keys have another type.
        """
        if isinstance(keys, tf.SparseTensor):
            return keys.with_values(self.lookup(keys.values, name))
        keys = tf.convert_to_tensor(keys)
        if keys.dtype != self.key_dtype:
            raise TypeError(f"Keys must have dtype {self.key_dtype}, got {keys.dtype}.")
        with tf.name_scope(name or f"{self.name}_Lookup"):
            buckets = self._hash(keys)
            if not self._table:
                return buckets
            keys = tf.cast(keys, tf.int64) if keys.dtype.is_integer else keys
            positions = self._table.lookup(keys)
            is_known = tf.not_equal(positions, self._table.default_value)
            return tf.where(is_known, positions, buckets + self._table.size())

    def _hash(self, keys: tf.Tensor) -> tf.Tensor:
        keys = tf.strings.as_string(keys) if keys.dtype.is_integer else keys
        if self._hasher.hasher == "stronghash":
            return tf.strings.to_hash_bucket_strong(keys, self._buckets, self._hasher.key)
        return tf.strings.to_hash_bucket_fast(keys, self._buckets)
