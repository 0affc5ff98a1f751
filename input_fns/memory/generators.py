"""Batches of rows that a Python function yields."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline.batching import batch_dataset
from input_fns.pipeline.options import PipelineOptions

_MAX_FLOAT16 = 65504.0


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
      tf.errors.InvalidArgumentError: When rows are read, a number does not fit the type of the
        signature, or is masked.
    """
    options = PipelineOptions.from_arguments(settings)
    if not callable(function):
        raise TypeError(f"function must return an iterable when called, but got {function!r}.")
    if options.cache is not None:
        raise ValueError("Rows of a generator are not cached: collect them in arrays instead.")
    signature = _infer_signature(function) if output_signature is None else output_signature

    def read() -> Iterator[Any]:
        for row in function():
            _check_values("row", row, signature)
            yield row

    rows = tf.data.Dataset.from_generator(read, output_signature=signature)
    return batch_dataset(rows, options)


def _infer_signature(function: Callable[[], Iterable[Any]]) -> Any:
    for first_row in function():
        with tf.init_scope():  # Keeps this sample row out of the caller's graph.
            return _infer_spec(first_row)
    raise ValueError("The generator yields nothing.")


def _infer_spec(value: Any) -> Any:
    """Returns the spec of a row, or a part of it; a list is an array, as in later rows."""
    if isinstance(value, Mapping):
        return {key: _infer_spec(part) for key, part in value.items()}
    if isinstance(value, tuple):
        parts = [_infer_spec(part) for part in value]
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    return tf.type_spec_from_value(tf.convert_to_tensor(value))


def _check_values(name: str, value: Any, spec: Any) -> None:
    """Raises a ValueError for a number that becomes another one in the type of the signature.

    TensorFlow wraps integers, and rounds those that become floats. Floats may be rounded, too.

    Args:
      name: Place in the row, for the error.
      value: The row, or a part of it; another structure than that of `spec` is TensorFlow's error.
      spec: The part of the signature.
    """
    if isinstance(spec, Mapping) and isinstance(value, Mapping):
        for key in spec.keys() & value.keys():
            _check_values(f"{name}[{key!r}]", value[key], spec[key])
    elif isinstance(spec, (tuple, list)) and isinstance(value, (tuple, list)):
        for place, (part, its_spec) in enumerate(zip(value, spec, strict=False)):
            _check_values(f"{name}[{place}]", part, its_spec)
    elif isinstance(spec, tf.TensorSpec) and not tf.is_tensor(value):
        if type(value) is float and abs(value) < _MAX_FLOAT16 and spec.dtype.is_floating:
            return  # The usual case.
        if np.ma.is_masked(value):
            raise ValueError(f"{name} has masked values: fill them with its filled().")
        _check_numbers(name, _as_numbers(value), spec.dtype)


def _as_numbers(value: Any) -> np.ndarray:
    """Returns an array of a value; of a list with integers and floats, an array of objects."""
    array = np.asarray(value)
    is_mixed = array.dtype.kind == "f" and isinstance(value, (list, int))
    return np.asarray(value, object) if is_mixed else array


def _check_numbers(name: str, array: np.ndarray, dtype: tf.DType) -> None:
    is_number = dtype.is_integer or dtype.is_floating or dtype.is_bool
    if not is_number or array.dtype == dtype.as_numpy_dtype or array.dtype.kind not in "iufO":
        return
    with np.errstate(all="ignore"):
        try:
            cast = array.astype(dtype.as_numpy_dtype)
        except (TypeError, ValueError, OverflowError):
            return  # TensorFlow's error, also for None.
        if array.dtype.kind == "O":  # Of a list with integers and floats.
            pairs = zip(array.ravel(), cast.ravel(), strict=True)
            is_other = np.reshape([_is_changed(*pair) for pair in pairs], array.shape)
        elif array.dtype.kind == "f" and dtype.is_floating:
            is_other = np.isinf(cast.astype(np.float64)) & np.isfinite(array)
        elif dtype.is_floating:
            is_other = np.asarray(cast.astype(array.dtype) != array)
        else:
            is_other = np.asarray(cast != array)
    if np.any(is_other):
        raise ValueError(
            f"{name} has the number {array[is_other].flat[0]}, which {dtype.name} does not hold: "
            "give a type that does in output_signature."
        )


def _is_changed(value: Any, cast: Any) -> bool:
    """Returns whether a number became infinite, or an integer another one."""
    if not math.isfinite(cast):
        return math.isfinite(value)
    return isinstance(value, (int, np.integer)) and int(cast) != value
