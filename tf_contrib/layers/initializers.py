"""Initializers of `tf.contrib.layers`."""

import tensorflow as tf

from tf_contrib._types import DType, Initializer

_v1 = tf.compat.v1


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DType = tf.float32
) -> Initializer:
    """Returns an initializer with variance 2 / (inputs + outputs).

    Args:
      uniform: Whether the distribution is uniform instead of normal.
      seed: Random seed.
      dtype: Type of the values.

    Raises:
      TypeError: dtype is not a floating-point type.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DType = tf.float32,
) -> Initializer:
    """Returns an initializer with variance factor / n.

    Args:
      factor: Numerator of the variance.
      mode: Meaning of n: FAN_IN, the inputs; FAN_OUT, the outputs; FAN_AVG, the mean of both.
      uniform: Whether the distribution is uniform instead of truncated normal.
      seed: Random seed.
      dtype: Type of the values.

    Raises:
      TypeError: mode is unknown, or dtype is not a floating-point type.
    """
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    distribution = "uniform" if uniform else "truncated_normal"
    if not uniform:
        # Truncation lowers the variance: TensorFlow corrects it exactly, tf.contrib by 1.3.
        factor *= 1.3 * 0.87962566103423978**2
    return _v1.variance_scaling_initializer(factor, mode.lower(), distribution, seed, dtype)
