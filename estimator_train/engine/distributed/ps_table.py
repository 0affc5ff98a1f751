"""Tables on parameter servers, by which the tasks of a cluster tell each other numbers."""

import tensorflow as tf


def table_of(name: str) -> tf.Tensor:
    """The table of a name on the current device, from strings to int64, for all sessions of it."""
    return tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, shared_name=name
    )


class ToldNumber:
    """A number that one task tells the others, on the first parameter server.

    Args:
      table: The name of the table that it is in.
      name: Its name there.
      unless_told: What it is before it is told.

    Attributes:
      number: Tensor of it, an int64 scalar.
    """

    def __init__(self, table: str, name: str, unless_told: int) -> None:
        with tf.device("/job:ps/task:0"), tf.name_scope(f"told_{name}"):
            handle, key = table_of(table), tf.constant(name)
            default = tf.constant(unless_told, tf.int64)
            self.number = tf.raw_ops.LookupTableFindV2(
                table_handle=handle, keys=key, default_value=default
            )
            self._told = tf.compat.v1.placeholder(tf.int64, [])
            self._tell = tf.raw_ops.LookupTableInsertV2(
                table_handle=handle, keys=key, values=self._told
            )

    def tell(self, session: tf.compat.v1.Session, number: int) -> None:
        """Sets it."""
        session.run(self._tell, {self._told: number})
