"""Gradients of embeddings on synchronous workers, which differ in their number of rows.

A collective of a graph must have the same shape in each step. So the rows are padded to a power of
two, and there is a collective for each power.
"""

import functools
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import strategies
from estimator_train.engine.type_aliases import Strategy

_POWERS = 31
# Distance between the keys of the collectives of two powers; larger than any number of them.
_KEYS_APART = 1_000_000


def gather_rows_of_any_number(strategy: Strategy) -> None:
    """Makes a MultiWorkerMirroredStrategy gather gradients whose number of rows changes.

    Args:
      strategy: The strategy, in graph form.
    """
    for launcher in strategies.list_collective_launchers(strategy):
        launcher.all_reduce_indexed_slices = functools.partial(_gather_rows, launcher)


def _gather_rows(launcher: Any, slices: tf.IndexedSlices, options: Any = None) -> tf.IndexedSlices:
    """Returns the rows of all replicas, concatenated."""
    with tf.device(strategies.find_launcher_device(launcher)):
        row_count = tf.shape(slices.indices)
        lengths = _gather(launcher, row_count, tf.constant(0), options)
        power = _find_power_above(tf.reduce_max(lengths))
        length = tf.bitwise.left_shift(1, power)
        missing = length - row_count[0]
        present = tf.reshape(tf.sequence_mask(lengths, length), [-1])

        def gather_present(part: tf.Tensor) -> tf.Tensor:
            widths = [[0, missing]] + [[0, 0]] * (part.shape.rank - 1)
            padded = _gather(launcher, tf.pad(part, widths), power, options)
            padded.set_shape([None, *part.shape[1:]])
            return tf.boolean_mask(padded, present)

        return tf.IndexedSlices(
            gather_present(slices.values), gather_present(slices.indices), slices.dense_shape
        )


def _find_power_above(number: tf.Tensor) -> tf.Tensor:
    """Returns the exponent of the smallest power of two that is at least `number`, an int32."""
    powers = tf.constant([2**power for power in range(_POWERS)])
    return tf.reduce_sum(tf.cast(powers < number, tf.int32))


def _gather(launcher: Any, part: tf.Tensor, power: tf.Tensor, options: Any) -> tf.Tensor:
    arguments = strategies.make_collective_arguments(launcher, options)
    instance_key = arguments.pop("instance_key") + _KEYS_APART * power
    return tf.raw_ops.CollectiveGatherV2(
        input=part, instance_key=instance_key, ordering_token=[], **arguments
    )
