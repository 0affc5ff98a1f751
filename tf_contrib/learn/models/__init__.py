"""Stand-in for `tf.contrib.learn.models`: linear models whose weights are variables."""

import functools
from collections.abc import Callable

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.learn.models.ops import (
    mean_squared_error_regressor,
    softmax_classifier,
)

_v1 = tf.compat.v1
Outputs = tuple[tf.Tensor, tf.Tensor]


def linear_regression(
    x: TensorLike, y: TensorLike, init_mean: float | None = None, init_stddev: float = 1.0
) -> Outputs:
    """Builds a linear regression and returns its predictions and loss.

    Args:
      x: Features, shape (batch, features).
      y: Labels, shape (batch,) or (batch, outputs).
      init_mean: Mean of the normal distribution that initializes the variables; None: they have
        the default initializer of the variable scope.
      init_stddev: Standard deviation of that distribution.
    """
    return _build("linear_regression", mean_squared_error_regressor, x, y, init_mean, init_stddev)


def linear_regression_zero_init(x: TensorLike, y: TensorLike) -> Outputs:
    """Builds a linear regression whose variables begin with zeros; see `linear_regression`."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression(
    x: TensorLike,
    y: TensorLike,
    class_weight: TensorLike | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> Outputs:
    """Builds a logistic regression and returns the probabilities of classes and the loss.

    Args:
      x: Features, shape (batch, features).
      y: One-hot labels, shape (batch, classes).
      class_weight: Factors of the logits, shape (classes,); None: 1.
      init_mean: See `linear_regression`.
      init_stddev: See `linear_regression`.
    """
    classify = functools.partial(softmax_classifier, class_weight=class_weight)
    return _build("logistic_regression", classify, x, y, init_mean, init_stddev)


def logistic_regression_zero_init(x: TensorLike, y: TensorLike) -> Outputs:
    """Builds a logistic regression whose variables begin with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _build(
    scope: str,
    predict: Callable[..., Outputs],
    x: TensorLike,
    y: TensorLike,
    init_mean: float | None,
    init_stddev: float,
) -> Outputs:
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    outputs = 1 if y.shape.rank == 1 else y.shape[1]
    initializer = None
    if init_mean is not None:
        initializer = _v1.random_normal_initializer(init_mean, init_stddev, dtype=x.dtype)
    with _v1.variable_scope(scope):
        _v1.summary.histogram(f"{scope}.x", x)
        _v1.summary.histogram(f"{scope}.y", y)
        weights = _v1.get_variable("weights", [x.shape[1], outputs], x.dtype, initializer)
        bias = _v1.get_variable("bias", [outputs], x.dtype, initializer)
        _v1.summary.histogram(f"{scope}.weights", weights)
        _v1.summary.histogram(f"{scope}.bias", bias)
        return predict(x, y, weights, bias)
