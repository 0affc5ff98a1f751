"""The fused transformations of tf.data.experimental, for `dataset.apply`.

TensorFlow deprecates its own in favour of the plain methods, which tf.data fuses by itself
when the pipeline starts. These use the plain methods, so they give the same elements and
the same errors and stay quiet.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks

Transformation = Callable[[tf.data.Dataset], tf.data.Dataset]


def shuffle_and_repeat(
    buffer_size: int | tf.Tensor,
    count: int | tf.Tensor | None = None,
    seed: int | tf.Tensor | None = None,
) -> Transformation:
    """Shuffles and repeats a dataset, in another order for every repetition.

    Args:
      buffer_size: Number of elements the next one is drawn from, a tf.int64 scalar.
      count: Number of repetitions, a tf.int64 scalar; None or -1 repeats indefinitely.
      seed: Seed of the order, a tf.int64 scalar; None draws one, or follows the graph's or
        the global seed (`tf.compat.v1.set_random_seed`, `tf.random.set_seed`).

    Returns:
      A function for `tf.data.Dataset.apply`.
    """

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        return dataset.shuffle(buffer_size, seed=seed).repeat(count)

    return apply


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int | tf.Tensor,
    num_parallel_calls: int | tf.Tensor | None = None,
    drop_remainder: bool | tf.Tensor = False,
    *,
    num_parallel_batches: int | tf.Tensor | None = None,
) -> Transformation:
    """Maps a function over a dataset and puts consecutive results into batches.

    Elements keep their order, whatever `num_parallel_calls` is. `num_parallel_batches` comes
    third in `tf.data.experimental.map_and_batch`; here it is given by name.

    Args:
      map_func: Function of one element, a nested structure of tensors, that returns another.
        It may use lookup tables and other resources of the graph.
      batch_size: Number of elements in a batch, a tf.int64 scalar.
      num_parallel_calls: Number of elements worked on at a time, or `tf.data.AUTOTUNE`. None
        works on whole batches: `batch_size * num_parallel_batches` elements.
      drop_remainder: Whether a last batch with fewer than `batch_size` elements is left out.
      num_parallel_batches: Number of batches worked on at a time; None means 1.

    Returns:
      A function for `tf.data.Dataset.apply`.

    Raises:
      ValueError: Both `num_parallel_calls` and `num_parallel_batches` are given, or
        `batch_size` is a Python number below 1.
    """
    if not tf.is_tensor(batch_size):
        checks.integer("batch_size", batch_size, minimum=1)
    if num_parallel_calls is None:
        batches = 1 if num_parallel_batches is None else num_parallel_batches
        num_parallel_calls = batch_size * batches
    elif num_parallel_batches is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and "
            "`num_parallel_calls` to be set, but `num_parallel_batches` was set to "
            f"{num_parallel_batches} and `num_parallel_calls` as set to {num_parallel_calls}."
        )

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        mapped = dataset.map(map_func, num_parallel_calls, deterministic=True)
        return mapped.batch(batch_size, drop_remainder)

    return apply
