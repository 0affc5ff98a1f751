"""Multivariate normal distributions, each with another form of its scale."""

import math
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.distributions.shaped import (
    REPARAMETERIZED,
    ShapedDistribution,
    arguments_of,
    convert,
    register_divergence,
)

_v1 = tf.compat.v1


class _MultivariateNormal(ShapedDistribution):
    """Base class: the distribution of `loc + scale @ z`, with standard normal numbers z.

    Args:
      loc: The mean; zeros by default.
      scale: The operator of the scale.
      parameters: The arguments of the class.
      scope: Name scope of the operations.
    """

    def __init__(
        self, loc: tf.Tensor | None, scale: Any, parameters: dict[str, Any], scope: str
    ) -> None:
        self.loc, self.scale = loc, scale
        zeros = tf.zeros(scale.shape_tensor()[:-1], scale.dtype)
        zeros.set_shape(scale.shape[:-1])
        self._location = tf.zeros(scale.shape_tensor()[-1:], scale.dtype) if loc is None else loc
        super().__init__(zeros + self._location, 1, REPARAMETERIZED, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        z = self.scale.solvevec(x - self._location)
        size = tf.cast(tf.shape(self._like)[-1], self.dtype)
        constant = 0.5 * size * math.log(2 * math.pi)
        return -0.5 * tf.reduce_sum(z**2, -1) - constant - self.scale.log_abs_determinant()

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        z = tf.random.normal(self._all_shapes(n), dtype=self.dtype, seed=seed)
        return self._location + self.scale.matvec(z)

    def _entropy(self) -> tf.Tensor:
        size = tf.cast(tf.shape(self._like)[-1], self.dtype)
        entropy = 0.5 * size * (1 + math.log(2 * math.pi)) + self.scale.log_abs_determinant()
        return entropy + tf.zeros(self._batch_shape_tensor(), self.dtype)

    def _mean(self) -> tf.Tensor:
        zeros = tf.zeros([*([1] * len(self._batch_shape())), 1], self.dtype)
        return self._location + (zeros[..., 0] if self.loc is None else 0)

    def _mode(self) -> tf.Tensor:
        return self._mean()

    def _covariance(self) -> tf.Tensor:
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> tf.Tensor:
        return tf.linalg.diag_part(self._covariance())

    def _stddev(self) -> tf.Tensor:
        return tf.sqrt(self._variance())


def _diverge(a: _MultivariateNormal, b: _MultivariateNormal) -> tf.Tensor:
    """Returns the Kullback-Leibler divergence; formula: Duchi, "Derivations for Linear Algebra"."""
    with tf.name_scope("kl_multivariate_normal"):
        spread = tf.reduce_sum(b.scale.solve(a.scale.to_dense()) ** 2, [-2, -1])
        distance = tf.reduce_sum(b.scale.solvevec(b.mean() - a.mean()) ** 2, -1)
        logarithm = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        size = tf.cast(a.event_shape_tensor()[0], a.dtype)
        return logarithm + 0.5 * (spread + distance - size)


register_divergence(_MultivariateNormal, _diverge)


class MultivariateNormalDiag(_MultivariateNormal):
    """Multivariate normal distribution whose scale is a diagonal matrix.

    Args:
      loc: The mean, shape (..., k); zeros by default.
      scale_diag: The diagonal, shape (..., k).
      scale_identity_multiplier: Number that is added to the diagonal, shape (...). The diagonal
        is ones if neither is given.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: The size k is not known, for neither loc nor scale_diag is given.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = arguments_of(locals())
        if loc is None and scale_diag is None:
            raise ValueError("Give loc or scale_diag: the size of an event is not known.")
        with _v1.name_scope(name) as scope:
            mean = convert(loc)
            if scale_diag is None:
                diagonal = tf.ones(tf.shape(mean)[-1:], mean.dtype)
                diagonal.set_shape(mean.shape[-1:])
            else:
                diagonal = tf.convert_to_tensor(scale_diag, None if mean is None else mean.dtype)
            if scale_identity_multiplier is not None:
                multiple = tf.convert_to_tensor(scale_identity_multiplier, diagonal.dtype)[
                    ..., None
                ]
                diagonal = diagonal * multiple if scale_diag is None else diagonal + multiple
            operator = tf.linalg.LinearOperatorDiag(diagonal, is_non_singular=True)
            super().__init__(mean, operator, parameters, scope)


class MultivariateNormalTriL(_MultivariateNormal):
    """Multivariate normal distribution whose scale is a lower triangle.

    Args:
      loc: The mean, shape (..., k); zeros by default.
      scale_tril: The triangle, shape (..., k, k).
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: The size k is not known, for neither loc nor scale_tril is given.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = arguments_of(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with _v1.name_scope(name) as scope:
            mean = convert(loc)
            if scale_tril is None:
                operator = tf.linalg.LinearOperatorIdentity(tf.shape(mean)[-1], dtype=mean.dtype)
            else:
                triangle = tf.convert_to_tensor(scale_tril, None if mean is None else mean.dtype)
                operator = tf.linalg.LinearOperatorLowerTriangular(triangle, is_non_singular=True)
            super().__init__(mean, operator, parameters, scope)


class MultivariateNormalFullCovariance(_MultivariateNormal):
    """Multivariate normal distribution with a covariance.

    Args:
      loc: The mean, shape (..., k); zeros by default.
      covariance_matrix: The covariance, shape (..., k, k), positive definite; the identity by
        default.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: The size k is not known, for neither argument is given.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = arguments_of(locals())
        if loc is None and covariance_matrix is None:
            raise ValueError("Must specify one or both of `loc`, `covariance_matrix`.")
        with _v1.name_scope(name) as scope:
            mean = convert(loc)
            if covariance_matrix is None:
                operator = tf.linalg.LinearOperatorIdentity(tf.shape(mean)[-1], dtype=mean.dtype)
            else:
                dtype = None if mean is None else mean.dtype
                triangle = tf.linalg.cholesky(tf.convert_to_tensor(covariance_matrix, dtype))
                operator = tf.linalg.LinearOperatorLowerTriangular(triangle, is_non_singular=True)
            super().__init__(mean, operator, parameters, scope)
