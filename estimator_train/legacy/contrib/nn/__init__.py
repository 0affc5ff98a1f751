"""`tf.contrib.nn`: operations of neural networks by their old place."""

from typing import Any

import tensorflow as tf

conv1d_transpose = tf.nn.conv1d_transpose


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> tf.Tensor:
    """The n-th smallest of each row, or the n-th largest.

    Args:
      input: Shape [..., size], numbers.
      n: From 0, a scalar int32.
      reverse: Whether the largest are counted.
      name: Of the operation.
    """
    return tf.raw_ops.NthElement(input=input, n=n, reverse=reverse, name=name)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> tf.Tensor:
    """`alpha * ln(1 + exp(x / alpha))`, not above clip.

    Args:
      x: Numbers.
      alpha: The scale, above 0.
      clip: The highest value, by default none.
      name: Of the scope.
    """
    with tf.name_scope(name or "scaled_softplus"):
        x = tf.convert_to_tensor(x)
        scaled = alpha * tf.nn.softplus(x / alpha)
        return scaled if clip is None else tf.minimum(scaled, clip)
