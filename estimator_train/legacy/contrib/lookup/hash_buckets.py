"""Positions for keys that a table of `tf.contrib.lookup` does not have: by their hash."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf


class HasherSpec(NamedTuple):
    """A hash of strings: its name, and its key where it has one."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that those who do not know the key cannot foresee.

    Args:
      key: Two integers.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> "StrongHashSpec":
        """Checks the key.

        Raises:
          ValueError: The key is not of two.
          TypeError: They are not integers.
        """
        if len(key) != 2:
            raise ValueError(f"key must be two integers, got {key}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"key must be two integers, got {key}.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets:
    """A table that spreads keys which another has not over positions after the other's.

    Args:
      table: The other, from keys to int64; None: there are no positions before.
      num_oov_buckets: The number of positions that keys are spread over.
      hasher_spec: The hash.
      name: Name of the operations.
      key_dtype: Type of the keys; by default the other table's, or strings.
    """

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        self._table, self._buckets, self._hasher = table, num_oov_buckets, hasher_spec
        self.name = name or "hash_bucket"
        self.key_dtype = tf.as_dtype(key_dtype or (table.key_dtype if table else tf.string))
        self.value_dtype = tf.int64

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._table.initializer if self._table else tf.no_op()

    init = initializer

    def size(self, name: str | None = None) -> tf.Tensor:
        """The number of all positions."""
        known = self._table.size() if self._table else tf.constant(0, tf.int64)
        return tf.add(known, self._buckets, name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The positions of keys.

        Args:
          keys: A tensor, or a sparse one.
          name: Name of the operation.

        Raises:
          TypeError: The keys are of another type.
        """
        if isinstance(keys, tf.SparseTensor):
            return keys.with_values(self.lookup(keys.values, name))
        keys = tf.convert_to_tensor(keys)
        if keys.dtype != self.key_dtype:
            raise TypeError(f"Keys must be of {self.key_dtype}, are of {keys.dtype}.")
        with tf.name_scope(name or f"{self.name}_Lookup"):
            buckets = self._bucket(keys)
            if not self._table:
                return buckets
            keys = tf.cast(keys, tf.int64) if keys.dtype.is_integer else keys
            positions = self._table.lookup(keys)
            is_known = tf.not_equal(positions, self._table.default_value)
            return tf.where(is_known, positions, buckets + self._table.size())

    def _bucket(self, keys: tf.Tensor) -> tf.Tensor:
        keys = tf.strings.as_string(keys) if keys.dtype.is_integer else keys
        if self._hasher.hasher == "stronghash":
            return tf.strings.to_hash_bucket_strong(keys, self._buckets, self._hasher.key)
        return tf.strings.to_hash_bucket_fast(keys, self._buckets)
