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


def alpha_dropout(
    x: TensorLike,
    keep_prob: TensorLike,
    noise_shape: TensorLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Drops values such that mean and variance of SELU's outputs stay (Klambauer et al., 2017).

    Args:
      x: Numbers.
      keep_prob: Probability with which a value is kept.
      noise_shape: Shape of the random choices; by default that of x.
      seed: Seed of the choices.
      name: Name scope of the operations.
    """
    with tf.name_scope(name or "alpha_dropout"):
        x = tf.convert_to_tensor(x)
        keep = tf.cast(keep_prob, x.dtype)
        # The value of SELU for minus infinity.
        low = tf.constant(-1.7580993408473766, x.dtype)
        shape = tf.shape(x) if noise_shape is None else noise_shape
        is_kept = tf.random.uniform(shape, dtype=x.dtype, seed=seed) < keep
        scale = 1 / tf.sqrt(keep + low**2 * keep * (1 - keep))
        kept = tf.where(tf.broadcast_to(is_kept, tf.shape(x)), x, low * tf.ones_like(x))
        return scale * kept - scale * low * (1 - keep)
