"""Stand-in for `tf.contrib.nn`: operations of neural networks."""

import tensorflow as tf

from estimator_train.legacy.contrib._types import TensorLike

conv1d_transpose = tf.nn.conv1d_transpose


def nth_element(
    input: TensorLike, n: TensorLike, reverse: bool = False, name: str | None = None
) -> tf.Tensor:
    """Returns the n-th smallest element of each row, or the n-th largest.

    Args:
      input: Numbers of shape [..., size].
      n: Index from 0, a scalar int32.
      reverse: Whether to count from the largest.
      name: Name of the operation.
    """
    return tf.raw_ops.NthElement(input=input, n=n, reverse=reverse, name=name)


def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> tf.Tensor:
    """Computes `alpha * ln(1 + exp(x / alpha))`, at most clip.

    Args:
      x: Numbers.
      alpha: Positive scale.
      clip: Maximum, or None.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "scaled_softplus"):
        x = tf.convert_to_tensor(x)
        scaled = alpha * tf.nn.softplus(x / alpha)
        return scaled if clip is None else tf.minimum(scaled, clip)
