"""Tables on parameter servers, through which the tasks of a cluster share numbers."""

import tensorflow as tf

_COUNTERS = "estimator_train/counters"


def open_table(name: str) -> tf.Tensor:
    """Returns the table of a name on the current device, from strings to int64.

    All sessions that use the device share the table.
    """
    return tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, shared_name=name
    )


class SharedCounter:
    """Number on the first parameter server, which one task sets and the others read.

    Args:
      name: The name of the number, unique in the cluster.
      default: The value before a task has set one.

    Attributes:
      value: Tensor of the number, an int64 scalar.
    """

    def __init__(self, name: str, default: int) -> None:
        scope = f"shared_{name.replace(':', '_')}"
        with tf.device("/job:ps/task:0"), tf.name_scope(scope):
            handle, key = open_table(_COUNTERS), tf.constant(name)
            self.value = tf.raw_ops.LookupTableFindV2(
                table_handle=handle, keys=key, default_value=tf.constant(default, tf.int64)
            )
            self._new_value = tf.compat.v1.placeholder(tf.int64, [])
            self._set = tf.raw_ops.LookupTableInsertV2(
                table_handle=handle, keys=key, values=self._new_value
            )

    def set(self, session: tf.compat.v1.Session, value: int) -> None:
        """Sets the number."""
        session.run(self._set, {self._new_value: value})
