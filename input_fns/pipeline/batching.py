"""Rows in batches: those of arrays, by their numbers, and those of a dataset."""

from typing import Any

import tensorflow as tf

from input_fns.pipeline import rows
from input_fns.pipeline.options import MEMORY, SHUFFLED, PipelineOptions


def batches(features: Any, labels: Any, options: PipelineOptions) -> tf.data.Dataset:
    """Shuffles, repeats and batches arrays; prefetching is left to the caller.

    Args:
      features: Arrays as in `input_fns.arrays`.
      labels: Arrays as in `input_fns.arrays`, or None.
      options: The settings.

    Returns:
      A `tf.data.Dataset` of (features, labels), or of features if there are no labels.
    """
    parts = {"features": features}
    if labels is not None:
        parts["labels"] = labels
    arrays = [rows.as_arrays(name, part) for name, part in parts.items()]
    count = rows.row_count(list(parts), arrays)
    structure = arrays[0] if labels is None else tuple(arrays)
    cardinality = options.cardinality(options.share_of(count))
    return rows.gather_rows(structure, _index_batches(count, options), cardinality)


def _index_batches(count: int, options: PipelineOptions) -> tf.data.Dataset:
    """Returns a dataset of the row numbers of each batch.

    An epoch's numbers are made as one tensor and cut into batches, which is several times
    faster than handling them one by one.
    """
    share = options.share_of(count)

    def in_order(_: tf.Tensor) -> tf.Tensor:
        numbers = tf.range(options.pipeline, count, options.pipelines, dtype=tf.int64)
        # Hides the length, or batches would be of a static size where it is a multiple of it.
        return tf.compat.v1.placeholder_with_default(numbers, [None])

    def shuffled(seed: tf.Tensor) -> tf.Tensor:
        numbers, seeds = in_order(seed), tf.stack([seed, 0])
        if options.buffer_size is None or options.buffer_size >= share:
            return tf.random.experimental.stateless_shuffle(numbers, seeds)
        # Sorted by random places less than buffer_size further on, none moves by more.
        forward = tf.random.stateless_uniform(tf.shape(numbers), seeds, dtype=tf.float64)
        places = tf.cast(tf.range(tf.size(numbers)), tf.float64) + options.buffer_size * forward
        return tf.gather(numbers, tf.argsort(places))

    if options.shuffle:
        seeds = tf.data.Dataset.random(options.seed, rerandomize_each_iteration=True)
        # As many epochs as asked for; -1, as None in `repeat`, takes all there are.
        epochs = seeds.take(options.num_epochs or -1).map(shuffled)
    else:
        epochs = tf.data.Dataset.from_tensors(0).repeat(options.num_epochs).map(in_order)
    return epochs.rebatch(options.batch_size, options.drop_remainder)


def in_batches(dataset: tf.data.Dataset, options: PipelineOptions) -> tf.data.Dataset:
    """Returns the finished pipeline of a dataset of single rows, which are read one by one."""
    if options.pipelines > 1:
        dataset = dataset.shard(options.pipelines, options.pipeline)
    if options.cache is not None:
        dataset = dataset.cache("" if options.cache == MEMORY else options.cache)
    if options.shuffle:
        dataset = dataset.shuffle(options.buffer_size or SHUFFLED, options.seed)
    dataset = dataset.repeat(options.num_epochs)
    return options.finish(dataset.batch(options.batch_size, options.drop_remainder))
