"""State of metrics, joined over replicas when their values are asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


def metric_variable(name: str, *shape: int) -> tf.Variable:
    """Zeros, among the local and metric variables."""
    keys = tf.compat.v1.GraphKeys
    return tf.compat.v1.Variable(
        tf.zeros(shape),
        trainable=False,
        collections=[keys.LOCAL_VARIABLES, keys.METRIC_VARIABLES],
        name=name,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def over_replicas(value: Callable[..., Any], variables: Sequence[Any], collections: Any) -> Any:
    """A function of variables, each of which reads as the sum of those of all replicas."""

    def merged(_: Any, *variables: Any) -> Any:
        return collected(value(*variables), collections)

    context = tf.distribute.get_replica_context()
    return context.merge_call(merged, args=tuple(variables))


def collected(tensor: tf.Tensor, collections: Any) -> tf.Tensor:
    """The tensor, put into collections: a name or several, or None."""
    tf.compat.v1.add_to_collections(collections or (), tensor)
    return tensor
