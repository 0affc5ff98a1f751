"""Gradients of embeddings on synchronous workers, each of which has another number of rows.

In a graph TensorFlow expects of a collective the shape that it had in its first step, and fails at
another. So what is gathered here is padded to a power of two, each with a collective of its own.
"""

import functools
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

_POWERS = 31
# Between the keys of collectives of one power and the next; more than a graph has collectives.
_KEYS_APART = 1_000_000


def gather_rows_of_any_number(strategy: Any) -> None:
    """Has a MultiWorkerMirroredStrategy gather gradients whose number of rows changes.

    Args:
      strategy: The strategy, in graph form.
    """
    for launcher in tf_internals.collective_launchers(strategy):
        launcher.all_reduce_indexed_slices = functools.partial(_all_rows, launcher)


def _all_rows(launcher: Any, slices: tf.IndexedSlices, options: Any = None) -> tf.IndexedSlices:
    """The rows of all replicas, one after another."""
    with tf.device(launcher._device):
        own = tf.shape(slices.indices)
        lengths = _gathered(launcher, own, tf.constant(0), options)
        power = _power_above(tf.reduce_max(lengths))
        length = tf.bitwise.left_shift(1, power)
        missing = length - own[0]
        present = tf.reshape(tf.sequence_mask(lengths, length), [-1])

        def all_of(part: tf.Tensor) -> tf.Tensor:
            widths = [[0, missing]] + [[0, 0]] * (part.shape.rank - 1)
            padded = _gathered(launcher, tf.pad(part, widths), power, options)
            padded.set_shape([None, *part.shape[1:]])
            return tf.boolean_mask(padded, present)

        return tf.IndexedSlices(all_of(slices.values), all_of(slices.indices), slices.dense_shape)


def _power_above(number: tf.Tensor) -> tf.Tensor:
    """The least power of two that is not below a number, both int32 scalars."""
    powers = tf.constant([2**power for power in range(_POWERS)])
    return tf.reduce_sum(tf.cast(powers < number, tf.int32))


def _gathered(launcher: Any, part: tf.Tensor, power: tf.Tensor, options: Any) -> tf.Tensor:
    options = launcher._options.merge(options)
    return tf.raw_ops.CollectiveGatherV2(
        input=part,
        group_size=launcher._group_size,
        group_key=launcher._group_key,
        instance_key=launcher._next_instance_key() + _KEYS_APART * power,
        ordering_token=[],
        communication_hint=options.implementation.value.lower(),
        timeout_seconds=options.timeout_seconds or 0,
    )
