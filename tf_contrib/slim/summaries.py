"""`tf.contrib.slim.summaries`: summaries named by tensors, with prefixes."""

from collections.abc import Callable, Iterable

import tensorflow as tf

_v1 = tf.compat.v1


def add_scalar_summary(
    tensor: tf.Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> tf.Tensor:
    """Adds a scalar summary.

    Args:
      tensor: A number.
      name: Name of the summary; by default the name of the tensor's operation.
      prefix: First part of the name.
      print_summary: Whether the operation prints the number.

    Returns:
      The summary, a string tensor.
    """
    name = _make_name(tensor, name, prefix)
    if print_summary:
        tensor = _v1.Print(tensor, [tensor], name)
    return _v1.summary.scalar(name, tensor)


def add_histogram_summary(
    tensor: tf.Tensor, name: str | None = None, prefix: str | None = None
) -> tf.Tensor:
    """Adds a histogram; see `add_scalar_summary`."""
    return _v1.summary.histogram(_make_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: tf.Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> tf.Tensor:
    """Adds a summary of pictures; see `add_scalar_summary`."""
    name = _make_name(tensor, name, prefix)
    if print_summary:
        tensor = _v1.Print(tensor, [tensor], name)
    return _v1.summary.image(name, tensor)


def add_zero_fraction_summary(
    tensor: tf.Tensor,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> tf.Tensor:
    """Adds a summary of the share of elements that are 0; see `add_scalar_summary`."""
    name = f"{_make_name(tensor, name, prefix)}/Fraction_of_Zero_Values"
    return add_scalar_summary(tf.math.zero_fraction(tensor), name, print_summary=print_summary)


def add_scalar_summaries(
    tensors: Iterable[tf.Tensor], prefix: str | None = None, print_summary: bool = False
) -> list[tf.Tensor]:
    """Adds a scalar summary for each tensor; see `add_scalar_summary`."""
    return [add_scalar_summary(one, None, prefix, print_summary) for one in tensors]


def add_histogram_summaries(
    tensors: Iterable[tf.Tensor], prefix: str | None = None
) -> list[tf.Tensor]:
    """Adds a histogram of each tensor."""
    return _add_each(add_histogram_summary, tensors, prefix)


def add_image_summaries(tensors: Iterable[tf.Tensor], prefix: str | None = None) -> list[tf.Tensor]:
    """Adds a summary of each batch of pictures."""
    return _add_each(add_image_summary, tensors, prefix)


def add_zero_fraction_summaries(
    tensors: Iterable[tf.Tensor], prefix: str | None = None
) -> list[tf.Tensor]:
    """Adds a summary of the share of zeros of each tensor."""
    return _add_each(add_zero_fraction_summary, tensors, prefix)


def _add_each(
    add: Callable[..., tf.Tensor], tensors: Iterable[tf.Tensor], prefix: str | None
) -> list[tf.Tensor]:
    return [add(tensor, prefix=prefix) for tensor in tensors]


def _make_name(tensor: tf.Tensor, name: str | None, prefix: str | None) -> str:
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else str(name)
