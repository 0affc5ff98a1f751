"""Messages about serialized tf.train.Examples that cannot be parsed."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError

_LISTS = {"float_list": tf.float32, "int64_list": tf.int64, "bytes_list": tf.string}


def explain(record: bytes, features: Mapping[str, Any]) -> str:
    """Returns the reason why a record cannot be parsed.

    Args:
      record: The record.
      features: The parsing specification.
    """
    try:
        values = tf.train.Example.FromString(record).features.feature
    # Protocol buffers in pure Python raise UnicodeDecodeError for text that is not UTF-8.
    except (DecodeError, UnicodeDecodeError):
        return f"is not a tf.train.Example ({len(record)} bytes)"
    for name, spec in features.items():
        reason = _check_feature(values.get(name), spec)
        if reason:
            return f"feature {name} {reason}; the record has {', '.join(sorted(values))}"
    return "does not match the features"


def _check_feature(feature: tf.train.Feature | None, spec: Any) -> str | None:
    """Returns the reason why a feature does not match its specification; None if it matches."""
    is_fixed = isinstance(spec, tf.io.FixedLenFeature)
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return "is missing" if is_fixed and spec.default_value is None else None
    values = len(getattr(feature, kind).value)
    dtype = getattr(spec, "dtype", None)
    if dtype is not None and dtype != _LISTS[kind]:
        return f"has type {_LISTS[kind].name}, expected {tf.as_dtype(dtype).name}"
    shape = tf.TensorShape(spec.shape) if is_fixed else None
    if shape is not None and shape.is_fully_defined() and values != shape.num_elements():
        return f"has {values} values, expected {shape.num_elements()} for shape {shape}"
    return None
