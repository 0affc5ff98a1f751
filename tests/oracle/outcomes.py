"""What calling something comes to, written so that it can be kept in a JSON file.

The recording scripts and the tests ask the same questions through this file: the scripts ask
the original, the tests ask ours.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf import json_format

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """Call in a new graph: `{"value": ...}`, or `{"error": type, "text": message}`."""
    with tf.Graph().as_default():
        try:
            return {"value": described(call())}
        except Exception as error:  # noqa: BLE001  whatever comes is the outcome
            return {"error": type(error).__name__, "text": normalised(str(error))}


def outcomes(calls: Mapping[str, Callable[[], Any]]) -> dict[str, dict[str, Any]]:
    return {name: outcome(call) for name, call in calls.items()}


@contextlib.contextmanager
def logged() -> Iterator[list[str]]:
    """Provides the lines TensorFlow's logger gets while the context lasts, as "LEVEL text"."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(  # type: ignore[method-assign]
        normalised(f"{record.levelname} {record.getMessage()}")
    )
    logger = tf.get_logger()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def recorded(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def normalised(text: str) -> str:
    """Returns the text without memory addresses and without the module of a class."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", text)
    return re.sub(r"<([a-z_0-9]+\.)+(\w+ object)", r"<\2", text)


def described(value: Any) -> Any:
    """Returns the value as JSON: tensors, operations and protocol buffers by their text."""
    if isinstance(value, dict):
        return {str(key): described(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return described(value._asdict())
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (tf.Tensor, tf.Operation, tf.Variable)):
        # The original computes the result of a Keras metric twice and returns the second one.
        return re.sub(r"'Identity(_\d+)?:0'", "'Identity:0'", repr(value))
    if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
        return f"{type(value).__name__} {value.dtype.name} {value.shape}"
    if hasattr(value, "SerializeToString"):
        return json_format.MessageToDict(value, preserving_proto_field_name=True)
    return type(value).__name__
