"""Batches of numpy arrays."""

from typing import Any

import tensorflow as tf

from input_fns.pipeline.batching import batches
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
    """Gives numpy arrays in batches: shuffled, repeated, batched, prefetched, in this order.

    Batches run on over the end of an epoch, so only the very last one can be smaller. The
    arrays never become part of the graph, whatever their size. In graph mode they are read
    when an iterator starts, in this process: leave them unchanged until then.

    Args:
      features: Array of shape (rows, ...), or a nested structure of dicts and tuples of such
        arrays. Numbers, bools and strings; anything `np.asarray` takes.
      labels: Like `features`; None for features alone, as for predictions.
      batch_size: Rows in a batch.
      shuffle: Whether each epoch has a random order of its own.
      num_epochs: Passes over the rows; None repeats indefinitely.
      seed: Seed of the shuffle; None draws one, or follows TensorFlow's global seed.
      buffer_size: The shuffle moves a row by fewer places than this; None means anywhere.
      prefetch_buffer_size: Batches made ahead of their use; None lets tf.data choose.
      drop_remainder: Whether a last batch with fewer than `batch_size` rows is left out.
      options: All settings at once, in place of the arguments from `batch_size` on.
      **more: The other settings of `PipelineOptions`.

    Returns:
      A `tf.data.Dataset` of (features, labels), or of features if there are no labels, in
      the given structures, dtypes as given, shapes (batch_size, ...).

    Raises:
      ValueError: Arrays are empty or differ in their number of rows, or a number is out
        of its range.
      TypeError: An array is of a dtype that TensorFlow does not have.
    """
    settings = PipelineOptions.of(
        {"options": options, **more},
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        seed=seed,
        buffer_size=buffer_size,
        prefetch_buffer_size=prefetch_buffer_size,
        drop_remainder=drop_remainder,
    )
    return settings.finish(batches(features, labels, settings))
