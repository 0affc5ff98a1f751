"""Kalman filter: estimates of a state from observations that depend on it linearly."""

import math
from typing import Any, NamedTuple

import tensorflow as tf


class Estimate(NamedTuple):
    """Normal distribution of a state or an observation.

    Attributes:
      mean: [batch, size].
      covariance: [batch, size, size].
    """

    mean: Any
    covariance: Any


def predict(estimate: Estimate, transition: tf.Tensor, noise: tf.Tensor) -> Estimate:
    """Predicts the state one time later.

    Args:
      estimate: State.
      transition: [size, size] or [batch, size, size].
      noise: Covariance of the noise, of the same shape.
    """
    mean = tf.linalg.matvec(transition, estimate.mean)
    covariance = tf.matmul(tf.matmul(transition, estimate.covariance), transition, transpose_b=True)
    return Estimate(mean, covariance + noise)


def predict_steps(
    estimate: Estimate, transition: tf.Tensor, noise: tf.Tensor, counts: tf.Tensor
) -> Estimate:
    """Predicts the state several times later.

    Args:
      estimate: State.
      transition: [size, size].
      noise: [size, size].
      counts: Number of times, integers [batch].
    """

    def apply_bit(
        remaining: tf.Tensor,
        mean: tf.Tensor,
        covariance: tf.Tensor,
        matrix: tf.Tensor,
        step_noise: tf.Tensor,
    ) -> tuple[Any, ...]:
        # Applies the bits of the counts from the lowest to the highest.
        next_estimate = predict(Estimate(mean, covariance), matrix, step_noise)
        is_odd = tf.equal(remaining % 2, 1)
        mean = tf.where(is_odd[:, None], next_estimate.mean, mean)
        covariance = tf.where(is_odd[:, None, None], next_estimate.covariance, covariance)
        doubled_noise = predict(
            Estimate(tf.zeros_like(matrix[0]), step_noise), matrix, step_noise
        ).covariance
        return remaining // 2, mean, covariance, tf.matmul(matrix, matrix), doubled_noise

    loop_state = (counts, *estimate, tf.convert_to_tensor(transition), tf.convert_to_tensor(noise))
    shapes = tuple(part.shape for part in loop_state)
    _, mean, covariance, _, _ = tf.while_loop(
        lambda remaining, *_: tf.reduce_any(remaining > 0),
        apply_bit,
        loop_state,
        shape_invariants=shapes,
    )
    return Estimate(mean, covariance)


def predict_observation(estimate: Estimate, observation: tf.Tensor, noise: tf.Tensor) -> Estimate:
    """Predicts an observation.

    Args:
      estimate: State.
      observation: Matrix that converts states to observations, [values, size].
      noise: Covariance of the noise, [values, values].
    """
    return predict(estimate, observation, noise)


def correct(
    estimate: Estimate,
    expected: Estimate,
    observation: tf.Tensor,
    noise: tf.Tensor,
    values: tf.Tensor,
) -> Estimate:
    """Corrects the state by an observation.

    Args:
      estimate: State before the observation.
      expected: Expected observation.
      observation: See `predict_observation`.
      noise: See `predict_observation`.
      values: Observation, [batch, values].
    """
    root = tf.linalg.cholesky(expected.covariance)
    cross_covariance = tf.matmul(observation, estimate.covariance)  # Covariances are symmetric.
    gain = tf.linalg.matrix_transpose(tf.linalg.cholesky_solve(root, cross_covariance))
    mean = estimate.mean + tf.linalg.matvec(gain, values - expected.mean)
    retained = tf.eye(tf.shape(gain)[1], dtype=gain.dtype) - tf.matmul(gain, observation)
    # Joseph's form keeps the covariance positive definite.
    covariance = tf.matmul(tf.matmul(retained, estimate.covariance), retained, transpose_b=True)
    covariance += tf.matmul(tf.matmul(gain, noise), gain, transpose_b=True)
    return Estimate(mean, covariance)


def log_likelihood(expected: Estimate, values: tf.Tensor) -> tf.Tensor:
    """Returns the log density of an observation, [batch]."""
    root = tf.linalg.cholesky(expected.covariance)
    difference = (values - expected.mean)[..., None]
    whitened = tf.linalg.triangular_solve(root, difference)[..., 0]
    log_volume = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)
    size = tf.cast(tf.shape(values)[-1], values.dtype)
    return -tf.reduce_sum(whitened**2, -1) / 2 - log_volume - size / 2 * math.log(2 * math.pi)
