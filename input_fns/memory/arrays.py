"""Batches of numpy arrays."""

from typing import Any

import tensorflow as tf

from input_fns.pipeline.batching import batch_arrays
from input_fns.pipeline.options import PipelineOptions


def arrays(
    features: Any,
    labels: Any = None,
    batch_size: int = 64,
    shuffle: bool = False,
    num_epochs: int | None = None,
    seed: int | None = None,
    buffer_size: int | None = None,
    prefetch_buffer_size: int | None = None,
    drop_remainder: bool = False,
    *,
    options: PipelineOptions | None = None,
    **more: Any,
) -> tf.data.Dataset:
    """Returns batches of numpy arrays: shuffles, repeats, batches and prefetches, in this order.

    A batch may contain rows of two epochs, so only the very last batch can be smaller. The
    arrays never become part of the graph, whatever their size. In graph mode this process copies
    them when an iterator reads its first batch: do not change them until then. It does not copy
    read-only arrays, as of `np.load(path, mmap_mode="r")`.

    Args:
      features: Array of shape (rows, ...), or a nested structure of dicts and tuples of such
        arrays: numbers, bools or strings, anything that `np.asarray` accepts.
      labels: Like `features`; None gives features without labels, for predictions.
      batch_size: Rows in a batch.
      shuffle: Whether each epoch is in a new random order.
      num_epochs: Passes over the rows; None repeats indefinitely.
      seed: Seed of the shuffle; None uses TensorFlow's global seed, or a random one.
      buffer_size: A row moves by fewer places than this when shuffled; None means anywhere.
      prefetch_buffer_size: Number of batches prepared in advance; None lets tf.data choose.
      drop_remainder: Whether a last batch with fewer than `batch_size` rows is dropped.
      options: All settings in one object; it replaces the arguments from `batch_size` on.
      **more: Other settings of `PipelineOptions`.

    Returns:
      A `tf.data.Dataset` of (features, labels), or of features if there are no labels, with
      the given structures and dtypes, and shapes (batch_size, ...).

    Raises:
      ValueError: Arrays are empty or differ in their number of rows, or a number is out
        of range.
      TypeError: TensorFlow does not support the dtype of an array.
    """
    settings = PipelineOptions.from_arguments(
        {"options": options, **more},
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        seed=seed,
        buffer_size=buffer_size,
        prefetch_buffer_size=prefetch_buffer_size,
        drop_remainder=drop_remainder,
    )
    return settings.finish(batch_arrays(features, labels, settings))
