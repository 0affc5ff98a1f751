"""Trained covariance matrices and their prior."""

import tensorflow as tf

_v1 = tf.compat.v1
_INITIAL_OFF_DIAGONAL_SCALE = -5.0
_SMALLEST_VARIANCE = 1e-8


def create_covariance(name: str, variances: tf.Tensor, log_scale: tf.Tensor) -> tf.Tensor:
    """Creates the variables of a covariance matrix and returns the matrix, [size, size].

    Args:
      name: Prefix of the names of the variables.
      variances: Initial variances before scaling, [size].
      log_scale: Log of the scale.
    """
    dtype, (size,) = log_scale.dtype, variances.shape.as_list()

    def create_variable(part: str, shape: list[int], value: float = 0.0) -> tf.Variable:
        return _v1.get_variable(f"{name}_{part}", shape, dtype, _v1.constant_initializer(value))

    parameters = create_variable("pre_transform", [size, size])
    off_diagonal = create_variable("off_diagonal_scale", [], _INITIAL_OFF_DIAGONAL_SCALE)
    overall = create_variable("overall_scale", [])
    log_variances = tf.linalg.diag(tf.math.log(variances))
    return transform_to_covariance(parameters + log_variances, off_diagonal, overall + log_scale)


def transform_to_covariance(
    parameters: tf.Tensor, off_diagonal_scale: tf.Tensor, overall_scale: tf.Tensor
) -> tf.Tensor:
    """Converts arbitrary numbers to a covariance matrix, [..., n, n].

    The covariance is L L^T with a lower triangular L. The diagonal of L is exp(parameters / 2). An
    element below the diagonal is the softsign of its parameter, times exp(p / 2) for the parameter
    p at the transposed position.

    Args:
      parameters: [..., n, n].
      off_diagonal_scale: Log of the squared scale of the elements below the diagonal, [...].
      overall_scale: Log of the scale of the covariance, [...].
    """
    diagonal = tf.exp(tf.linalg.diag_part(parameters) / 2)
    signs = tf.nn.softsign(tf.linalg.band_part(parameters, -1, 0))
    logarithms = tf.linalg.matrix_transpose(parameters) + off_diagonal_scale[..., None, None]
    lower = tf.linalg.set_diag(signs * tf.exp(logarithms / 2), diagonal)
    root = lower * tf.exp(overall_scale / 2)[..., None, None]
    return tf.matmul(root, root, transpose_b=True)


def compute_log_prior(covariance: tf.Tensor) -> tf.Tensor:
    """Returns the log of Jeffreys' prior of a covariance matrix, up to a constant."""
    size = covariance.shape.as_list()[-1]
    regularized = covariance + _SMALLEST_VARIANCE * tf.eye(size, dtype=covariance.dtype)
    return -(size + 1) / 2 * tf.linalg.logdet(regularized)
