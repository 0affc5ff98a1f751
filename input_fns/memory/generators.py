"""Rows that a Python function makes."""

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from input_fns.pipeline.batching import in_batches
from input_fns.pipeline.options import PipelineOptions


def generator(
    function: Callable[[], Iterable[Any]], output_signature: Any = None, **settings: Any
) -> tf.data.Dataset:
    """Gives what a Python generator yields in batches.

    Python makes one row at a time, so that this is the slowest source; and where it has come to
    cannot be saved with a checkpoint.

    Args:
      function: Function of no arguments that returns an iterable over rows; it is called anew for
        each epoch. A row is (features, labels), or features alone: arrays or dicts of them.
      output_signature: `tf.TensorSpec`s of a row; None tells them by the first, whose iterable is
        begun once more for it.
      **settings: The settings of `PipelineOptions`, or `options` with all of them. With an
        `input_context` every so manieth row is this pipeline's.

    Returns:
      A `tf.data.Dataset` of the rows in batches.

    Raises:
      ValueError: It yields nothing, or an argument is out of its range.
      TypeError: It is not callable.
    """
    options = PipelineOptions.of(settings)
    if not callable(function):
        raise TypeError(f"function must return an iterable when called, but got {function!r}.")
    if options.cache is not None:
        raise ValueError("Rows of a generator are not cached: collect them in arrays instead.")
    signature = _signature(function) if output_signature is None else output_signature
    rows = tf.data.Dataset.from_generator(function, output_signature=signature)
    return in_batches(rows, options)


def _signature(function: Callable[[], Iterable[Any]]) -> Any:
    for first in function():
        with tf.init_scope():  # Also within a graph, values must be known.
            tensors = tf.nest.map_structure(tf.convert_to_tensor, first)
        return tf.nest.map_structure(tf.type_spec_from_value, tensors)
    raise ValueError("The generator yields nothing.")
