"""Batches of rows: arrays are batched by row number, datasets row by row."""

import zlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from input_fns.pipeline import rows
from input_fns.pipeline.conversion import as_arrays
from input_fns.pipeline.options import DEFAULT_SHUFFLE_ROWS, MEMORY, PipelineOptions


def batch_arrays(features: Any, labels: Any, options: PipelineOptions) -> tf.data.Dataset:
    """Shuffles, repeats and batches arrays; the caller adds prefetching.

    Args:
      features: Arrays; see `input_fns.arrays`.
      labels: Arrays or None; see `input_fns.arrays`.
      options: The settings.

    Returns:
      A `tf.data.Dataset` of (features, labels), or of features if there are no labels.
    """
    parts = {"features": features}
    if labels is not None:
        parts["labels"] = labels
    arrays = [as_arrays(name, part) for name, part in parts.items()]
    count = rows.row_count(list(parts), arrays)
    structure = arrays[0] if labels is None else tuple(arrays)
    cardinality = options.cardinality(options.count_own_rows(count))
    return rows.gather_rows(structure, _index_batches(count, options), cardinality)


def _index_batches(count: int, options: PipelineOptions) -> tf.data.Dataset:
    """Returns a dataset of the row numbers of each batch.

    The row numbers of an epoch are made as one tensor and cut into batches, which is several
    times faster than handling them one by one.
    """
    own_count = options.count_own_rows(count)

    def list_rows(_: tf.Tensor) -> tf.Tensor:
        numbers = tf.range(options.pipeline_index, count, options.num_pipelines, dtype=tf.int64)
        # Hides the length: otherwise rebatch gives a static batch size if it divides the length.
        return tf.compat.v1.placeholder_with_default(numbers, [None])

    def shuffle_rows(seed: tf.Tensor) -> tf.Tensor:
        numbers, seeds = list_rows(seed), tf.stack([seed, 0])
        if options.buffer_size is None or options.buffer_size >= own_count:
            return tf.random.experimental.stateless_shuffle(numbers, seeds)
        # Each row gets a sort key less than buffer_size above its position, so it cannot move by
        # more places than that.
        forward = tf.random.stateless_uniform(tf.shape(numbers), seeds, dtype=tf.float64)
        keys = tf.cast(tf.range(tf.size(numbers)), tf.float64) + options.buffer_size * forward
        return tf.gather(numbers, tf.argsort(keys))

    epochs = make_epochs(options).map(shuffle_rows if options.shuffle else list_rows)
    return epochs.rebatch(options.batch_size, options.drop_remainder)


def make_epochs(options: PipelineOptions) -> tf.data.Dataset:
    """Returns a dataset with one element for each epoch: its seed, or 0 without `shuffle`."""
    if options.shuffle:
        seeds = tf.data.Dataset.random(options.seed, rerandomize_each_iteration=True)
        # `take(-1)` takes all elements, as `repeat(None)` repeats indefinitely.
        return seeds.take(options.num_epochs or -1)
    return tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).repeat(options.num_epochs)


def read_epochs(
    epochs: tf.data.Dataset, layout: Any, read: Callable[[tf.Tensor], tf.data.Dataset]
) -> tf.data.Dataset:
    """Returns the rows of all epochs; a saved position refuses an input of another layout.

    The position in an epoch is a number of rows or files. In other files it would be other rows:
    some would be read twice, and others never. tf.data saves the element that began the epoch, and
    calls `read` with it when it restores the position.

    Args:
      epochs: Dataset of the seed of each epoch.
      layout: The numbers on which the order of rows depends, such as the sizes of the files.
      read: Function from a seed to the rows of an epoch.
    """
    mark = zlib.crc32(repr(layout).encode())

    def read_if_unchanged(seed: tf.Tensor, saved_mark: tf.Tensor) -> tf.data.Dataset:
        is_unchanged = tf.equal(saved_mark, tf.constant(mark, tf.int64))
        fault = "The files, their rows, or the blocks in which they are read have changed."
        with tf.control_dependencies([tf.debugging.Assert(is_unchanged, [fault])]):
            return read(tf.identity(seed))

    marks = tf.data.Dataset.from_tensors(tf.constant(mark, tf.int64)).repeat()
    return tf.data.Dataset.zip((epochs, marks)).flat_map(read_if_unchanged)


def batch_dataset(dataset: tf.data.Dataset, options: PipelineOptions) -> tf.data.Dataset:
    """Returns the complete pipeline of a dataset of single rows."""
    if options.num_pipelines > 1:
        dataset = dataset.shard(options.num_pipelines, options.pipeline_index)
    if options.cache is not None:
        dataset = dataset.cache("" if options.cache == MEMORY else options.cache)
    if options.shuffle:
        dataset = dataset.shuffle(options.buffer_size or DEFAULT_SHUFFLE_ROWS, options.seed)
    dataset = dataset.repeat(options.num_epochs)
    return options.finish(dataset.batch(options.batch_size, options.drop_remainder))
