"""Summaries of `tf.contrib.layers`."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1


def summarize_tensor(tensor: TensorLike, tag: str | None = None) -> tf.Tensor:
    """Adds a scalar summary of a number, or a histogram of a tensor."""
    summarize = _v1.summary.scalar if tensor.shape.rank == 0 else _v1.summary.histogram
    return summarize(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: tf.Tensor) -> tf.Tensor:
    """Adds a histogram of a layer's outputs, and the share of outputs at the bounds of a ReLU."""
    name, summarize = op.op.name, op.op.type
    if summarize in ("Relu", "Softplus", "Relu6"):
        _v1.summary.scalar(f"{name}/zeros", tf.math.zero_fraction(op))
    if summarize == "Relu6":
        _v1.summary.scalar(f"{name}/sixes", tf.math.zero_fraction(6.0 - op))
    return _v1.summary.histogram(f"{name}/activation", op)


def summarize_tensors(
    tensors: Sequence[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Adds summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """Adds summaries of the tensors of a collection."""
    return summarize_tensors(_v1.get_collection(collection, name_filter), summarizer)


def summarize_variables(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Adds summaries of all variables."""
    return summarize_collection(_v1.GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Adds summaries of the collection WEIGHTS."""
    return summarize_collection(_v1.GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Adds summaries of the collection BIASES."""
    return summarize_collection(_v1.GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """Adds summaries of the collection ACTIVATIONS."""
    return summarize_collection(_v1.GraphKeys.ACTIVATIONS, name_filter, summarizer)
