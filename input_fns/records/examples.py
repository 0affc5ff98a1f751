"""What is wrong with a serialized tf.train.Example, in words."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

_LISTS = {"float_list": tf.float32, "int64_list": tf.int64, "bytes_list": tf.string}


def explain(record: bytes, features: Mapping[str, Any]) -> bytes:
    """Returns why a record cannot be parsed.

    Args:
      record: The record.
      features: The parsing specification.
    """
    return _reason(record, features).encode()


def _reason(record: bytes, features: Mapping[str, Any]) -> str:
    try:
        found = tf.train.Example.FromString(record).features.feature
    except Exception:  # The protocol buffers' own error class is not public.
        return f"is not a tf.train.Example ({len(record)} bytes)"
    for name, spec in features.items():
        fault = _fault(found.get(name), spec)
        if fault:
            return f"feature {name} {fault}; the record has {', '.join(sorted(found))}"
    return "does not fit the features"


def _fault(feature: Any, spec: Any) -> str | None:
    is_fixed = isinstance(spec, tf.io.FixedLenFeature)
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return "is missing" if is_fixed and spec.default_value is None else None
    values = len(getattr(feature, kind).value)
    dtype = getattr(spec, "dtype", None)
    if dtype is not None and dtype != _LISTS[kind]:
        return f"is of {_LISTS[kind].name}, expected {tf.as_dtype(dtype).name}"
    shape = tf.TensorShape(spec.shape) if is_fixed else None
    if shape is not None and shape.is_fully_defined() and values != shape.num_elements():
        return f"has {values} values, expected {shape.num_elements()} for shape {shape}"
    return None
