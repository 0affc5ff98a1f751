"""Elements other than batches: chunks of the batches of many steps, and flags of a next element."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.compiled.chunks import BatchChunks
from estimator_train.engine.inputs.input_fn import Inputs, split
from estimator_train.engine.inputs.start import (
    RowBatches,
    arrange_rows,
    find_kind,
    find_row_batches,
)

_MAX_BATCHES = 32
_MAX_BYTES = 4 * 2**20
# Other operations, which save the position of an iterator for example, need its own dataset.
_ITERATOR_USERS = {"IteratorGetNext", "IteratorToStringHandle", "MakeIterator"}


def make_chunks(inputs: Inputs) -> BatchChunks | None:
    """Adds the chunks of an input to its graph.

    Called after the model is built: earlier operations would change the model's seeds.

    Args:
      inputs: The input of a training step, in the default graph.

    Returns:
      The chunks; None if the input is not an endless dataset of batches of rows of arrays, or if
      there is a GPU, on which chunks were never measured.
    """
    initializer = inputs.initializer
    if initializer is None or initializer.type != "MakeIterator":
        return None
    dataset, iterator = initializer.inputs
    batches = find_row_batches(dataset.op)
    if batches is None or not _is_endless(batches):
        return None
    if not {user.type for user in iterator.consumers()} <= _ITERATOR_USERS:
        return None
    count = _count_batches(batches)
    if count < 2 or tf.config.list_physical_devices("GPU"):
        return None
    with tf.device("/cpu:0"), tf.name_scope("chunks"):
        return BatchChunks(_gather_chunks(batches, count), iterator)


def _is_endless(batches: RowBatches) -> bool:
    """Returns whether the batches never end, and only a prefetch follows them."""
    if not all(find_kind(stage.type) == "Prefetch" for stage in batches.later):
        return False
    for stage in batches.orders:
        kind = find_kind(stage.type)
        if kind == "Repeat" and tf.get_static_value(stage.inputs[1]) == -1:
            return True
        if kind == "Take":
            return False
    return False


def _count_batches(batches: RowBatches) -> int:
    """Returns how many batches a chunk has; 0 if the size of a batch is not known."""
    row_bytes = 0
    for array in batches.source.inputs:
        values = array.shape[1:].num_elements()
        if values is None or array.dtype == tf.string:
            return 0
        row_bytes += values * array.dtype.size
    return min(_MAX_BATCHES, _MAX_BYTES // max(1, row_bytes * batches.size))


def _gather_chunks(batches: RowBatches, count: int) -> tf.data.Dataset:
    """Returns a dataset whose components have the shape [count, batch size, ...]."""

    def gather(rows: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return tuple(tf.gather(array, rows) for array in batches.source.inputs)

    options = tf.data.Options()
    options.autotune.enabled = False
    batched = arrange_rows(batches).batch(batches.size, drop_remainder=True)
    chunks = batched.batch(count, drop_remainder=True)
    return chunks.map(gather).prefetch(1).with_options(options)


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
