"""The fused transformations of tf.data.experimental, for `dataset.apply`.

TensorFlow deprecates its functions of these names, because tf.data now fuses the plain methods.
The functions here use the plain methods: they give the same elements and errors, without the
deprecation warning.
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
    """Shuffles and repeats a dataset, with a new order for each repetition.

    Args:
      buffer_size: Number of buffered elements to choose the next element from, a tf.int64 scalar.
      count: Number of repetitions, a tf.int64 scalar; None or -1 repeats indefinitely.
      seed: Seed of the order, a tf.int64 scalar; None uses the seed of the graph or the global
        seed (`tf.compat.v1.set_random_seed`, `tf.random.set_seed`), or a random one.

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

    Elements keep their order for every `num_parallel_calls`. `num_parallel_batches` is the third
    argument of `tf.data.experimental.map_and_batch`; here it is a keyword argument.

    Args:
      map_func: Function of one element, a nested structure of tensors, that returns another.
        It may use lookup tables and other resources of the graph.
      batch_size: Number of elements in a batch, a tf.int64 scalar.
      num_parallel_calls: Number of elements to map in parallel, or `tf.data.AUTOTUNE`. None
        maps `batch_size * num_parallel_batches` elements in parallel.
      drop_remainder: Whether a last batch with fewer than `batch_size` elements is dropped.
      num_parallel_batches: Number of batches to map in parallel; None means 1.

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
