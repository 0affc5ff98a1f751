"""Metric that concatenates the values of all batches."""

import tensorflow as tf

from tf_contrib._types import Collections, TensorLike
from tf_contrib.metrics.variables import add_to_collections


def streaming_concat(
    values: TensorLike,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Collections | None = None,
    updates_collections: Collections | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Concatenates the values of all batches.

    Args:
      values: Tensor of a known rank.
      axis: Axis along which to concatenate.
      max_size: Maximum size of this axis; later values are dropped. None: no limit.
      metrics_collections: Collections of the value.
      updates_collections: Collections of the update operation.
      name: Name of the variable scope.

    Returns:
      The concatenated values, and the operation that adds a batch and returns their number.

    Raises:
      ValueError: The rank is unknown, or there is no such axis.
    """
    values = tf.convert_to_tensor(values)
    rank = values.shape.rank
    if rank is None:
        raise ValueError("`values` must have known statically known rank")
    if not 0 <= axis < rank:
        raise ValueError(f"axis = {axis} not in [0, {rank})")
    order = [axis, *(index for index in range(rank) if index != axis)]
    # The inverse of an order that moves one axis to the front.
    back = [order.index(index) for index in range(rank)]
    rows = tf.transpose(values, order)
    with tf.compat.v1.variable_scope(name, "streaming_concat"):
        array = tf.compat.v1.Variable(
            tf.zeros([0, *(size or 0 for size in rows.shape[1:])], values.dtype),
            trainable=False,
            collections=[tf.compat.v1.GraphKeys.LOCAL_VARIABLES],
            name="array",
            use_resource=True,
            shape=[None] * rank,
        )
        old = array.read_value()
        old = tf.reshape(old, tf.concat([[-1], tf.shape(rows)[1:]], 0))
        kept = tf.concat([old, rows], 0)[:max_size]
        with tf.control_dependencies([array.assign(kept)]):
            update = tf.shape(kept)[0]
        value = tf.transpose(tf.ensure_shape(array.read_value(), [None, *rows.shape[1:]]), back)
    return (
        add_to_collections(value, metrics_collections),
        add_to_collections(update, updates_collections),
    )
