"""Inputs with a flag in each element: whether another element follows."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.inputs.input_fn import Inputs, split


def make_lookahead_inputs(
    dataset: tf.data.Dataset, input_context: tf.distribute.InputContext
) -> Inputs:
    """Returns the inputs of a step, with `has_next` for the vote of synchronous workers.

    The first element of the iterator is empty: it is read before the first step, for `has_next`.

    Args:
      dataset: Dataset of one replica's batches.
      input_context: The shard of this worker's input.
    """
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(_add_has_next(dataset))
        packed, has_next = iterator.get_next()
        specs = tf.nest.flatten(dataset.element_spec, expand_composites=True)
        tensors = tf.raw_ops.OptionalGetValue(
            optional=packed,
            output_types=[spec.dtype for spec in specs],
            output_shapes=[spec.shape for spec in specs],
        )
    element = tf.nest.pack_sequence_as(dataset.element_spec, tensors, expand_composites=True)
    features, labels = split(element)
    return Inputs(features, labels, iterator, iterator.initializer, input_context, has_next)


def _add_has_next(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns pairs of an optional element and whether another follows; the first is empty."""

    def pack(*element: Any) -> tf.Tensor:
        tensors = tf.nest.flatten(element, expand_composites=True)
        return tf.raw_ops.OptionalFromValue(components=tensors)

    def shift(before: tf.Tensor, current: tf.Tensor) -> tuple[tf.Tensor, Any]:
        return current, (before, tf.raw_ops.OptionalHasValue(optional=current))

    empty = tf.raw_ops.OptionalNone()
    end = tf.data.Dataset.from_tensors(0).map(lambda _: tf.raw_ops.OptionalNone())
    return dataset.map(pack).concatenate(end).scan(empty, shift)
