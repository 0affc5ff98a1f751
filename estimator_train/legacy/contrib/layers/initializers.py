"""Initializers of `tf.contrib.layers`."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32
) -> Any:
    """Values whose variance is 2 / (inputs + outputs).

    Args:
      uniform: Spread evenly; else by a normal distribution.
      seed: Of the random numbers.
      dtype: Of the values.

    Raises:
      TypeError: dtype is not of floats.
    """
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Any:
    """Values whose variance is factor / n.

    Args:
      factor: The factor.
      mode: What n is: FAN_IN, the inputs; FAN_OUT, the outputs; FAN_AVG, the mean of both.
      uniform: Spread evenly; else by a normal distribution.
      seed: Of the random numbers.
      dtype: Of the values.

    Raises:
      TypeError: mode is another, or dtype is not of floats.
    """
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    kind = "uniform" if uniform else "truncated_normal"
    if not uniform:
        # What TensorFlow divides by for the values that are cut off, against a rounder 1.3.
        factor *= 1.3 * 0.87962566103423978**2
    return _v1.variance_scaling_initializer(factor, mode.lower(), kind, seed, dtype)
