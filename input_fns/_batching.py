"""How rows are shuffled, repeated, batched and prefetched: one set of checked settings."""

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from input_fns import _checks, _rows


@dataclass(frozen=True, kw_only=True)
class Batching:
    """Settings that the sources share, checked once when they are put together.

    Attributes:
      batch_size: Rows in a batch.
      shuffle: Whether each epoch has a random order of its own.
      num_epochs: Passes over the rows; None repeats for ever.
      seed: Seed of the shuffle; None draws one, or follows TensorFlow's global seed.
      buffer_size: The shuffle moves a row by fewer places than this; None means anywhere.
      prefetch_buffer_size: Batches made ahead of their use; None lets tf.data choose.
      drop_remainder: Whether a last batch with fewer than `batch_size` rows is left out.
    """

    batch_size: int = 64
    shuffle: bool = False
    num_epochs: int | None = None
    seed: int | None = None
    buffer_size: int | None = None
    prefetch_buffer_size: int | None = None
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        _checks.integer("batch_size", self.batch_size, minimum=1)
        _checks.optional_integer("num_epochs", self.num_epochs, minimum=1)
        _checks.optional_integer("buffer_size", self.buffer_size, minimum=1)
        _checks.optional_integer(
            "prefetch_buffer_size", self.prefetch_buffer_size, minimum=tf.data.AUTOTUNE
        )
        _checks.optional_integer("seed", self.seed, minimum=-(2**63))

    @property
    def prefetch(self) -> int:
        """The argument for `Dataset.prefetch`."""
        if self.prefetch_buffer_size is None:
            return tf.data.AUTOTUNE
        return self.prefetch_buffer_size

    def cardinality(self, count: int) -> int:
        """Returns how many batches come of `count` rows in each epoch.

        Args:
          count: Rows of one epoch.

        Returns:
          The number of batches, or `tf.data.INFINITE_CARDINALITY`.

        Raises:
          ValueError: If it is 0.
        """
        if self.num_epochs is None:
            return tf.data.INFINITE_CARDINALITY
        whole, rest = divmod(count * self.num_epochs, self.batch_size)
        if rest and not self.drop_remainder:
            return whole + 1
        if whole == 0:
            raise ValueError(
                f"batch_size={self.batch_size} with drop_remainder=True leaves no batch of "
                f"{count} rows in {self.num_epochs} epoch(s): make the batches smaller, or "
                "let drop_remainder be False."
            )
        return whole


def batches(features: Any, labels: Any, batching: Batching) -> tf.data.Dataset:
    """Shuffles, repeats and batches arrays; prefetching is left to the caller.

    Args:
      features: Arrays as in `input_fns.arrays`.
      labels: Arrays as in `input_fns.arrays`, or None.
      batching: The settings.

    Returns:
      A `tf.data.Dataset` of (features, labels), or of features if there are no labels.
    """
    parts = {"features": features}
    if labels is not None:
        parts["labels"] = labels
    arrays = [_rows.as_arrays(name, part) for name, part in parts.items()]
    count = _rows.row_count(list(parts), arrays)
    structure = arrays[0] if labels is None else tuple(arrays)
    cardinality = batching.cardinality(count)
    return _rows.gather_rows(structure, _index_batches(count, batching), cardinality)


def _index_batches(count: int, batching: Batching) -> tf.data.Dataset:
    """Returns a dataset of the row numbers of each batch.

    An epoch's numbers are made as one tensor and cut into batches, which is several times
    faster than handling them one by one.
    """

    def in_order(_: tf.Tensor) -> tf.Tensor:
        numbers = tf.range(count, dtype=tf.int64)
        # Hides the length, or batches would be of a static size where it is a multiple of it.
        return tf.compat.v1.placeholder_with_default(numbers, [None])

    def shuffled(seed: tf.Tensor) -> tf.Tensor:
        numbers, seeds = in_order(seed), tf.stack([seed, 0])
        if batching.buffer_size is None or batching.buffer_size >= count:
            return tf.random.experimental.stateless_shuffle(numbers, seeds)
        # Sorted by random places less than buffer_size further on, none moves by more.
        forward = tf.random.stateless_uniform(tf.shape(numbers), seeds, dtype=tf.float64)
        places = tf.cast(numbers, tf.float64) + batching.buffer_size * forward
        return tf.cast(tf.argsort(places), tf.int64)

    if batching.shuffle:
        seeds = tf.data.Dataset.random(batching.seed, rerandomize_each_iteration=True)
        # As many epochs as asked for; -1, as None in `repeat`, takes all there are.
        epochs = seeds.take(batching.num_epochs or -1).map(shuffled)
    else:
        epochs = tf.data.Dataset.from_tensors(0).repeat(batching.num_epochs).map(in_order)
    return epochs.rebatch(batching.batch_size, batching.drop_remainder)
