"""Models of `tf.contrib.learn.models`."""

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.legacy.contrib.learn import ops

_v1 = tf.compat.v1


def linear_regression(
    x: tf.Tensor, y: tf.Tensor, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Creates a linear regression with the variables `weights` and `bias`.

    Args:
      x: Features of shape [batch_size, features].
      y: Labels of shape [batch_size] or [batch_size, outputs].
      init_mean: Mean of the initial values; None: the default initializer of the scope.
      init_stddev: Standard deviation of the initial values.

    Returns:
      The predictions and the loss; see `ops.mean_squared_error_regressor`.
    """
    with _v1.variable_scope("linear_regression"):
        size = 1 if y.shape.rank == 1 else y.shape[1]
        weights, bias = _create_variables(x, size, init_mean, init_stddev)
        return ops.mean_squared_error_regressor(x, y, weights, bias)


def linear_regression_zero_init(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Creates a linear regression whose variables start with zeros; see `linear_regression`."""
    return linear_regression(x, y, 0.0, 0.0)


def logistic_regression(
    x: tf.Tensor,
    y: tf.Tensor,
    class_weight: Sequence[float] | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Creates a logistic regression with the variables `weights` and `bias`.

    Args:
      x: Features of shape [batch_size, features].
      y: One-hot labels of shape [batch_size, classes].
      class_weight: Factors of the logits of the classes.
      init_mean: Mean of the initial values; None: the default initializer of the scope.
      init_stddev: Standard deviation of the initial values.

    Returns:
      The probabilities and the loss; see `ops.softmax_classifier`.
    """
    with _v1.variable_scope("logistic_regression"):
        weights, bias = _create_variables(x, y.shape[1], init_mean, init_stddev)
        return ops.softmax_classifier(x, y, weights, bias, class_weight)


def logistic_regression_zero_init(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Creates a logistic regression whose variables start with zeros; see `logistic_regression`."""
    return logistic_regression(x, y, None, 0.0, 0.0)


def _create_variables(
    x: tf.Tensor, size: int, mean: float | None, stddev: float
) -> tuple[tf.Variable, tf.Variable]:
    initializer = None if mean is None else _v1.random_normal_initializer(mean, stddev)
    weights = _v1.get_variable("weights", [x.shape[1], size], x.dtype, initializer)
    return weights, _v1.get_variable("bias", [size], x.dtype, initializer)
