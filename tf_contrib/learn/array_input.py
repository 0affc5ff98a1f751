"""Input functions of arrays, for `fit`, `evaluate` and `predict` of estimators."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import Arrays

# The estimators of tf.contrib.learn read arrays in the order of this seed, whatever the others are.
_SEED = 42


def create_array_input_fn(
    x: Arrays | None,
    y: Arrays | None,
    input_fn: Callable[[], Any] | None,
    batch_size: int | None,
    epochs: int | None,
) -> Callable[[], Any]:
    """Creates an input function of arrays, unless the user gives one.

    Args:
      x: Features, an array of shape (examples, ...) or a dict of such arrays.
      y: Labels, of the same number of examples; or None.
      input_fn: The input function of the user, in the place of arrays.
      batch_size: Number of examples in a batch, by default all.
      epochs: How often the examples are read in their order; None for reading them without end,
        in each epoch in the random order that TensorFlow 1 has.

    Returns:
      The user's input function, or one that returns a dataset.

    Raises:
      ValueError: Both x or y and an input function are given, or neither.
    """
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    features = x if isinstance(x, Mapping) else np.asarray(x)
    count = len(tf.nest.flatten(features)[0])
    arrays = features if y is None else (features, np.asarray(y))
    size = batch_size or count

    def make_batches() -> tf.data.Dataset:
        if epochs is not None:
            return tf.data.Dataset.from_tensor_slices(arrays).batch(size).repeat(epochs)
        tensors = tf.nest.map_structure(tf.convert_to_tensor, arrays)
        order = tf.TensorSpec([count], tf.int64)
        orders = tf.data.Dataset.from_generator(lambda: _draw_orders(count), output_signature=order)
        rows = orders.flat_map(lambda each: tf.data.Dataset.from_tensor_slices(each).batch(size))
        return rows.map(
            lambda taken: tf.nest.map_structure(lambda tensor: tf.gather(tensor, taken), tensors)
        )

    return make_batches


def _draw_orders(count: int) -> Iterator[np.ndarray]:
    """Yields the order of the examples in each epoch."""
    random = np.random.RandomState(_SEED)
    while True:
        yield random.permutation(count)
