"""Covariance matrices that are trained, and how little is known of them before."""

from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_INITIAL_OFF_DIAGONAL_SCALE = -5.0
_SMALLEST_VARIANCE = 1e-8


def trained_covariance(name: str, variances: Any, log_scale: Any) -> tf.Tensor:
    """Makes the variables of a covariance matrix; returns it, [size, size].

    Args:
      name: The first part of the names of its variables.
      variances: The variances at first, before they are scaled, [size].
      log_scale: Logarithm of what they are scaled by.
    """
    kind, (size,) = log_scale.dtype, variances.shape.as_list()

    def variable(part: str, shape: list[int], value: float = 0.0) -> tf.Variable:
        return _v1.get_variable(f"{name}_{part}", shape, kind, _v1.constant_initializer(value))

    parameters = variable("pre_transform", [size, size])
    off_diagonal = variable("off_diagonal_scale", [], _INITIAL_OFF_DIAGONAL_SCALE)
    overall = variable("overall_scale", [])
    known = tf.linalg.diag(tf.math.log(variances))
    return covariance_of(parameters + known, off_diagonal, overall + log_scale)


def covariance_of(parameters: Any, off_diagonal_scale: Any, overall_scale: Any) -> tf.Tensor:
    """A covariance matrix of any numbers, [..., n, n].

    It is L L^T. The diagonal of the triangular L is made of logarithms; each number below it has
    its sign and a part of its size from below the diagonal of the parameters, and the logarithm of
    the rest from above.

    Args:
      parameters: [..., n, n].
      off_diagonal_scale: Logarithm of what is below the diagonal, squared; [...].
      overall_scale: Logarithm of the whole; [...].
    """
    diagonal = tf.exp(tf.linalg.diag_part(parameters) / 2)
    signs = tf.nn.softsign(tf.linalg.band_part(parameters, -1, 0))
    logarithms = tf.linalg.matrix_transpose(parameters) + off_diagonal_scale[..., None, None]
    lower = tf.linalg.set_diag(signs * tf.exp(logarithms / 2), diagonal)
    root = lower * tf.exp(overall_scale / 2)[..., None, None]
    return tf.matmul(root, root, transpose_b=True)


def log_prior(covariance: Any) -> tf.Tensor:
    """Logarithm of the noninformative prior of a covariance matrix (Jeffreys), up to a constant."""
    size = covariance.shape.as_list()[-1]
    certain = covariance + _SMALLEST_VARIANCE * tf.eye(size, dtype=covariance.dtype)
    return -(size + 1) / 2 * tf.linalg.logdet(certain)
