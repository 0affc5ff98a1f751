"""Summaries of `tf.contrib.layers`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def summarize_tensor(tensor: Any, tag: str | None = None) -> tf.Tensor:
    """A summary of a number, or of how the values of a tensor are spread."""
    kind = _v1.summary.scalar if tensor.shape.rank == 0 else _v1.summary.histogram
    return kind(tag or tensor.op.name, tensor)


def summarize_activation(op: Any) -> tf.Tensor:
    """Summaries of a layer's output: how it is spread, and its share of zeros after a relu."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        zeros = tf.math.zero_fraction(op)
        _v1.summary.scalar(f"{op.op.name}/zeros", zeros)
    return _v1.summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensors(
    tensors: Sequence[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """Summaries of a collection's tensors."""
    return summarize_tensors(_v1.get_collection(collection, name_filter), summarizer)


def summarize_variables(name_filter: str | None = None) -> list[Any]:
    """Summaries of all variables."""
    return summarize_collection(_v1.GraphKeys.GLOBAL_VARIABLES, name_filter)


def summarize_activations(name_filter: str | None = None) -> list[Any]:
    """Summaries of the collection ACTIVATIONS."""
    return summarize_collection(_v1.GraphKeys.ACTIVATIONS, name_filter, summarize_activation)
