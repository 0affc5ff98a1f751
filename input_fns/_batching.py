"""How rows are shuffled, repeated, batched and prefetched: one set of checked settings."""

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from input_fns import _checks, _rows
from input_fns.transformations import shuffle_and_repeat


@dataclass(frozen=True, kw_only=True)
class Batching:
    """Settings that the sources share, checked once when they are put together.

    Attributes:
      batch_size: Rows in a batch.
      shuffle: Whether each epoch has a random order of its own.
      num_epochs: Passes over the rows; None repeats for ever.
      seed: Seed of the shuffle; None draws one, or follows TensorFlow's global seed.
      buffer_size: Rows that the shuffle draws from; None means all of them.
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
    """Returns a dataset of the row numbers of each batch."""
    size, drop_remainder = batching.batch_size, batching.drop_remainder
    if batching.shuffle and batching.buffer_size is not None and batching.buffer_size < count:
        order = tf.data.Dataset.range(count).apply(
            shuffle_and_repeat(batching.buffer_size, batching.num_epochs, batching.seed)
        )
        return order.batch(size, drop_remainder)
    # An epoch as one tensor, cut into batches: several times faster than row by row.
    return _epochs(count, batching).rebatch(size, drop_remainder)


def _epochs(count: int, batching: Batching) -> tf.data.Dataset:
    """Returns a dataset of all row numbers in the order of each epoch."""

    def in_order(_: tf.Tensor) -> tf.Tensor:
        numbers = tf.range(count, dtype=tf.int64)
        # Hides the length, or batches would be of a static size where it is a multiple of it.
        return tf.compat.v1.placeholder_with_default(numbers, [None])

    def shuffled(seed: tf.Tensor) -> tf.Tensor:
        return tf.random.experimental.stateless_shuffle(in_order(seed), tf.stack([seed, 0]))

    if not batching.shuffle:
        return tf.data.Dataset.from_tensors(0).repeat(batching.num_epochs).map(in_order)
    seeds = tf.data.Dataset.random(batching.seed, rerandomize_each_iteration=True)
    if batching.num_epochs is not None:
        seeds = seeds.take(batching.num_epochs)
    return seeds.map(shuffled)
