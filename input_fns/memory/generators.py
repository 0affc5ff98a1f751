"""Batches of rows that a Python function yields."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline.batching import batch_dataset
from input_fns.pipeline.options import PipelineOptions


def generator(
    function: Callable[[], Iterable[Any]], output_signature: Any = None, **settings: Any
) -> tf.data.Dataset:
    """Returns batches of the rows that a Python generator yields.

    Python makes one row at a time, so this is the slowest source. A checkpoint cannot save the
    position in a generator.

    Args:
      function: Function without arguments that returns an iterable over rows. Each epoch calls it
        again. A row is (features, labels) or only features: arrays or dicts of arrays.
      output_signature: `tf.TensorSpec`s of a row; None infers them from the first row, with one
        more call of `function`.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`. With
        an `input_context` of n pipelines, each pipeline takes every n-th row.

    Returns:
      A `tf.data.Dataset` of the rows in batches.

    Raises:
      ValueError: The generator yields nothing, or an argument is out of range.
      TypeError: `function` is not callable.
      tf.errors.InvalidArgumentError: When rows are read, a number does not fit an integer type of
        the signature.
    """
    options = PipelineOptions.from_arguments(settings)
    if not callable(function):
        raise TypeError(f"function must return an iterable when called, but got {function!r}.")
    if options.cache is not None:
        raise ValueError("Rows of a generator are not cached: collect them in arrays instead.")
    signature = _infer_signature(function) if output_signature is None else output_signature

    def read() -> Iterator[Any]:
        for row in function():
            _check_integers("row", row, signature)
            yield row

    rows = tf.data.Dataset.from_generator(read, output_signature=signature)
    return batch_dataset(rows, options)


def _infer_signature(function: Callable[[], Iterable[Any]]) -> Any:
    for first_row in function():
        with tf.init_scope():  # Keeps this sample row out of the caller's graph.
            tensors = tf.nest.map_structure(tf.convert_to_tensor, first_row)
        return tf.nest.map_structure(tf.type_spec_from_value, tensors)
    raise ValueError("The generator yields nothing.")


def _check_integers(name: str, value: Any, spec: Any) -> None:
    """Raises a ValueError for a number that an integer type does not hold: TensorFlow wraps it.

    Args:
      name: Place in the row, for the error.
      value: The row, or a part of it; another structure than that of `spec` is TensorFlow's error.
      spec: The part of the signature.
    """
    if isinstance(spec, Mapping) and isinstance(value, Mapping):
        for key in spec.keys() & value.keys():
            _check_integers(f"{name}[{key!r}]", value[key], spec[key])
    elif isinstance(spec, (tuple, list)) and isinstance(value, (tuple, list)):
        for place, (part, its_spec) in enumerate(zip(value, spec, strict=False)):
            _check_integers(f"{name}[{place}]", part, its_spec)
    elif isinstance(spec, tf.TensorSpec) and spec.dtype.is_integer and not tf.is_tensor(value):
        array, dtype = np.asarray(value), spec.dtype.as_numpy_dtype
        if array.dtype == dtype or array.dtype.kind not in "iuf":
            return
        with np.errstate(invalid="ignore"):
            is_other = array.astype(dtype) != array
        if np.any(is_other):
            raise ValueError(
                f"{name} has the number {array[is_other].flat[0]}, which {spec.dtype.name} does "
                "not hold: give a type that does in output_signature."
            )
