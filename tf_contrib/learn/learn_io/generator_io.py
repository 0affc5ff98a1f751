"""Input of generators for `tf.contrib.learn.io`."""

import inspect
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

Row = Mapping[str, np.ndarray]


def generator_input_fn(
    x: Callable[[], Iterator[Row]],
    target_key: str | list[str] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """Creates an input function of the rows of a generator.

    A last batch that is not full also has the first rows of the next epoch.

    Args:
      x: Generator function of rows: dicts of arrays.
      target_key: Key of the labels, or a list of keys; None: there are no labels.
      batch_size: Number of rows in a batch.
      num_epochs: Number of calls of x; None: no end.
      shuffle: Whether to shuffle the rows.
      queue_capacity: Number of rows from which a shuffled batch is drawn.
      num_threads: Unused: one thread reads the rows in their order.
      pad_value: Any value: arrays of a batch are padded to one shape, with zeros as in TensorFlow
        1.15. None: all arrays have one shape.

    Returns:
      A function that returns the features, and the labels if there are keys of them. It raises
      TypeError if x is no generator function or a key is no string, KeyError if a row lacks a key.
    """
    del num_threads

    def input_fn() -> Any:
        first = _check_first_row(x)
        keys = _check_keys(target_key, first)
        shapes = {name: value.shape for name, value in first.items()}
        if pad_value is not None:
            shapes = {name: (None,) * len(shape) for name, shape in shapes.items()}
        data = tf.data.Dataset.from_generator(
            lambda: _yield_full_batches(x, batch_size, num_epochs),
            output_signature={
                name: tf.TensorSpec(shapes[name], tf.as_dtype(value.dtype))
                for name, value in first.items()
            },
        )
        if shuffle:
            data = data.shuffle(queue_capacity)
        if pad_value is None:
            data = data.batch(batch_size, drop_remainder=num_epochs is None)
        else:
            data = data.padded_batch(batch_size)
        batch = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        features = {name: value for name, value in batch.items() if name not in keys}
        if target_key is None:
            return features
        labels = {name: batch[name] for name in keys}
        return features, labels if len(keys) > 1 else labels[keys[0]]

    return input_fn


def _check_first_row(x: Any) -> dict[str, np.ndarray]:
    """Returns the first row.

    Raises:
      TypeError: x is no generator function of dicts.
    """
    if not callable(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    rows = x()
    if not inspect.isgenerator(rows):
        raise TypeError(f"x() must be generator; got {type(rows).__name__}")
    first = next(rows)
    if not isinstance(first, Mapping):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    return {name: np.asarray(value) for name, value in sorted(first.items())}


def _check_keys(target_key: Any, row: Row) -> list[str]:
    """Returns the keys of the labels.

    Raises:
      TypeError: A key is no string.
      KeyError: The row lacks a key.
    """
    if target_key is None:
        return []
    keys = [target_key] if isinstance(target_key, str) else target_key
    if not isinstance(keys, Collection):
        raise TypeError(
            f"target_key must be str or Container of str; got {type(target_key).__name__}"
        )
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(f"target_key must be str or Container of str; got {type(key).__name__}")
        if key not in row:
            raise KeyError(f"target_key not in yielded dict. Expected {list(row)} keys; got {key}")
    return list(keys)


def _yield_full_batches(
    x: Callable[[], Iterator[Row]], batch_size: int, num_epochs: int | None
) -> Iterator[Row]:
    """Yields the rows of all epochs, and rows of another until the last batch is full."""
    count = 0
    for epoch in itertools.count():
        is_over = num_epochs is not None and epoch >= num_epochs
        for row in x():
            if is_over and count % batch_size == 0:
                return
            count += 1
            yield {name: row[name] for name in sorted(row)}
        if count == 0:
            return
