"""Labels given as strings, and the class numbers they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

_UNKNOWN_ID = -1
_UNKNOWN_NAME = "UNK"


class Vocabulary:
    """Class names in the order of their numbers.

    Lookup tables belong to the graph they are used in; eager code has one pair of its own.

    Args:
      names: List or tuple of strings, without doubles.
    """

    def __init__(self, names: Sequence[str]):
        self.names = names
        self._eager_tables: dict[str, tf.lookup.StaticHashTable] = {}

    def ids(self, names: tf.Tensor) -> tf.Tensor:
        """Returns the int64 number of each name; unknown ones are -1."""
        return self._table("ids").lookup(names)

    def names_of(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns the name of each int64 number; unknown ones are "UNK"."""
        return self._table("names").lookup(ids)

    def _table(self, kind: str) -> tf.lookup.StaticHashTable:
        with tf.init_scope():
            if not tf.executing_eagerly():
                return self._new_table(kind)
            if kind not in self._eager_tables:
                self._eager_tables[kind] = self._new_table(kind)
            return self._eager_tables[kind]

    def _new_table(self, kind: str) -> tf.lookup.StaticHashTable:
        names = tf.constant(self.names, tf.string)
        ids = tf.range(len(self.names), dtype=tf.int64)
        if kind == "ids":
            initializer = tf.lookup.KeyValueTensorInitializer(names, ids)
            return tf.lookup.StaticHashTable(initializer, _UNKNOWN_ID)
        initializer = tf.lookup.KeyValueTensorInitializer(ids, names)
        return tf.lookup.StaticHashTable(initializer, _UNKNOWN_NAME)
