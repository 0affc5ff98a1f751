"""The Kalman filter: estimates of a state from observations that depend on it linearly."""

import math
from typing import Any, NamedTuple

import tensorflow as tf


class Estimate(NamedTuple):
    """A normal distribution.

    Attributes:
      mean: [batch, size].
      covariance: [batch, size, size].
    """

    mean: Any
    covariance: Any


def moved(estimate: Estimate, transition: Any, noise: Any) -> Estimate:
    """The state one time later.

    Args:
      estimate: The state.
      transition: [size, size], or one for each of the batch.
      noise: The covariance of what is added; the same.
    """
    mean = tf.linalg.matvec(transition, estimate.mean)
    covariance = tf.matmul(tf.matmul(transition, estimate.covariance), transition, transpose_b=True)
    return Estimate(mean, covariance + noise)


def moved_often(estimate: Estimate, transition: Any, noise: Any, counts: Any) -> Estimate:
    """The state some times later.

    Args:
      estimate: The state.
      transition: [size, size].
      noise: [size, size].
      counts: How many times, integers [batch].
    """

    def more(rest: Any, mean: Any, covariance: Any, matrix: Any, added: Any) -> tuple[Any, ...]:
        # One power of two at a time, from the lowest.
        after = moved(Estimate(mean, covariance), matrix, added)
        odd = tf.equal(rest % 2, 1)
        mean = tf.where(odd[:, None], after.mean, mean)
        covariance = tf.where(odd[:, None, None], after.covariance, covariance)
        twice = moved(Estimate(tf.zeros_like(matrix[0]), added), matrix, added).covariance
        return rest // 2, mean, covariance, tf.matmul(matrix, matrix), twice

    given = (counts, *estimate, tf.convert_to_tensor(transition), tf.convert_to_tensor(noise))
    shapes = tuple(part.shape for part in given)
    _, mean, covariance, _, _ = tf.while_loop(
        lambda rest, *_: tf.reduce_any(rest > 0), more, given, shape_invariants=shapes
    )
    return Estimate(mean, covariance)


def observed(estimate: Estimate, observation: Any, noise: Any) -> Estimate:
    """What is to be observed.

    Args:
      estimate: The state.
      observation: What an observation is of a state, [number of values, size].
      noise: The covariance of what is added, [number of values, number of values].
    """
    return moved(estimate, observation, noise)


def corrected(
    estimate: Estimate, expected: Estimate, observation: Any, noise: Any, values: Any
) -> Estimate:
    """The state after an observation.

    Args:
      estimate: The state before.
      expected: What was to be observed.
      observation: As for `observed`.
      noise: As for `observed`.
      values: What was observed, [batch, number of values].
    """
    root = tf.linalg.cholesky(expected.covariance)
    seen = tf.matmul(observation, estimate.covariance)  # Covariances are symmetric.
    gain = tf.linalg.matrix_transpose(tf.linalg.cholesky_solve(root, seen))
    mean = estimate.mean + tf.linalg.matvec(gain, values - expected.mean)
    kept = tf.eye(tf.shape(gain)[1], dtype=gain.dtype) - tf.matmul(gain, observation)
    # In Joseph's form a covariance stays positive.
    covariance = tf.matmul(tf.matmul(kept, estimate.covariance), kept, transpose_b=True)
    covariance += tf.matmul(tf.matmul(gain, noise), gain, transpose_b=True)
    return Estimate(mean, covariance)


def log_likelihood(expected: Estimate, values: Any) -> tf.Tensor:
    """Logarithm of the density of an observation, [batch]."""
    root = tf.linalg.cholesky(expected.covariance)
    difference = (values - expected.mean)[..., None]
    whitened = tf.linalg.triangular_solve(root, difference)[..., 0]
    log_volume = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)
    size = tf.cast(tf.shape(values)[-1], values.dtype)
    return -tf.reduce_sum(whitened**2, -1) / 2 - log_volume - size / 2 * math.log(2 * math.pi)
