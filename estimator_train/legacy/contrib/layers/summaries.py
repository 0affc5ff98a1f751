"""Summaries of `tf.contrib.layers`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def summarize_tensor(tensor: Any, tag: str | None = None) -> tf.Tensor:
    """A summary of a number, or of how the values of a tensor are spread."""
    kind = _v1.summary.scalar if tensor.shape.rank == 0 else _v1.summary.histogram
    return kind(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Any) -> tf.Tensor:
    """Summaries of a layer's output: how it is spread, and what share is at a relu's bounds."""
    name, kind = op.op.name, op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        _v1.summary.scalar(f"{name}/zeros", tf.math.zero_fraction(op))
    if kind == "Relu6":
        _v1.summary.scalar(f"{name}/sixes", tf.math.zero_fraction(6.0 - op))
    return _v1.summary.histogram(f"{name}/activation", op)


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


def summarize_variables(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Summaries of all variables."""
    return summarize_collection(_v1.GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Summaries of the collection WEIGHTS."""
    return summarize_collection(_v1.GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Summaries of the collection BIASES."""
    return summarize_collection(_v1.GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """Summaries of the collection ACTIVATIONS."""
    return summarize_collection(_v1.GraphKeys.ACTIVATIONS, name_filter, summarizer)
