"""Variables of metrics, merged over replicas when a value is read."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Collections


def metric_variable(name: str, *shape: int) -> tf.Variable:
    """Creates a variable of zeros in LOCAL_VARIABLES and METRIC_VARIABLES."""
    keys = tf.compat.v1.GraphKeys
    return tf.compat.v1.Variable(
        tf.zeros(shape),
        trainable=False,
        collections=[keys.LOCAL_VARIABLES, keys.METRIC_VARIABLES],
        name=name,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def compute_over_replicas(
    value: Callable[..., Any], variables: Sequence[Any], collections: Collections | None
) -> tf.Tensor:
    """Computes a function of variables that are read as the sums over all replicas."""

    def merge(_: tf.distribute.Strategy, *variables: Any) -> tf.Tensor:
        return add_to_collections(value(*variables), collections)

    context = tf.distribute.get_replica_context()
    return context.merge_call(merge, args=tuple(variables))


def add_to_collections(tensor: tf.Tensor, collections: Collections | None) -> tf.Tensor:
    """Adds a tensor to collections, one name, several or None, and returns it."""
    tf.compat.v1.add_to_collections(collections or (), tensor)
    return tensor
