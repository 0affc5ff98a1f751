"""Base of the distributions here, and those of numbers: Logistic, Poisson, Deterministic."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from tf_contrib._types import TensorLike

_v1 = tf.compat.v1
REPARAMETERIZED = _v1.distributions.FULLY_REPARAMETERIZED
NOT_REPARAMETERIZED = _v1.distributions.NOT_REPARAMETERIZED


class ShapedDistribution(tf.compat.v1.distributions.Distribution):
    """Base class of distributions whose shapes are those of one tensor, in batch and event.

    Args:
      like: Any numbers of the shape of one sample, whose type is that of the samples.
      event_rank: Number of axes of an event, the last ones of `like`.
      kind: Whether samples have gradients.
      parameters: The arguments of the class, which `copy` passes on.
      scope: Name scope of the operations.
    """

    def __init__(
        self, like: tf.Tensor, event_rank: int, kind: Any, parameters: Mapping[str, Any], scope: str
    ) -> None:
        self._like, self._event_rank = like, event_rank
        super().__init__(
            like.dtype,
            kind,
            validate_args=parameters.get("validate_args", False),
            allow_nan_stats=parameters.get("allow_nan_stats", True),
            parameters=dict(parameters),
            name=scope,
        )

    def _batch_shape(self) -> tf.TensorShape:
        return self._like.shape[: self._like.shape.rank - self._event_rank]

    def _event_shape(self) -> tf.TensorShape:
        return self._like.shape[self._like.shape.rank - self._event_rank :]

    def _batch_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._like)[: self._like.shape.rank - self._event_rank]

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._like)[self._like.shape.rank - self._event_rank :]

    def _all_shapes(self, count: TensorLike) -> tf.Tensor:
        """Returns the shape of a number of samples."""
        return tf.concat([[count], tf.shape(self._like)], 0)


def convert(value: TensorLike | None, dtype: tf.DType | None = None) -> Any:
    """Returns a tensor, or None for None."""
    return None if value is None else tf.convert_to_tensor(value, dtype)


def arguments_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a constructor, from what `locals()` was at its start."""
    return {name: value for name, value in values.items() if name not in ("self", "__class__")}


def register_divergence(kind: type, divergence: Callable[[Any, Any], tf.Tensor]) -> None:
    """Makes `kl_divergence` of two distributions of a class known.

    TensorFlow's log of this call, which says that it is deprecated, names no line of the program.
    """
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        _v1.distributions.RegisterKL(kind, kind)(lambda a, b, name=None: divergence(a, b))
    finally:
        logger.setLevel(level)


class Logistic(ShapedDistribution):
    """Logistic distribution: its cdf is the sigmoid of `(x - loc) / scale`.

    Args:
      loc: The mean.
      scale: The scale, positive.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        parameters = arguments_of(locals())
        with _v1.name_scope(name) as scope:
            self.loc = tf.convert_to_tensor(loc)
            self.scale = tf.convert_to_tensor(scale, self.loc.dtype)
            super().__init__(self.loc + self.scale, 0, REPARAMETERIZED, parameters, scope)

    def _standardize(self, x: TensorLike) -> tf.Tensor:
        return (x - self.loc) / self.scale

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        z = self._standardize(x)
        return -z - 2 * tf.nn.softplus(-z) - tf.math.log(self.scale)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(self._standardize(x))

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(-self._standardize(x))

    def _survival_function(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(-self._standardize(x))

    def _log_survival_function(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(self._standardize(x))

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random.uniform(self._all_shapes(n), tiny, 1.0, self.dtype, seed)
        return self.loc + self.scale * (tf.math.log(uniform) - tf.math.log1p(-uniform))

    def _mean(self) -> tf.Tensor:
        return self.loc + tf.zeros_like(self.scale)

    def _mode(self) -> tf.Tensor:
        return self._mean()

    def _stddev(self) -> tf.Tensor:
        return (self.scale + tf.zeros_like(self.loc)) * (np.pi / np.sqrt(3.0))

    def _entropy(self) -> tf.Tensor:
        return 2.0 + tf.math.log(self.scale + tf.zeros_like(self.loc))


class Poisson(ShapedDistribution):
    """Poisson distribution of counts.

    Args:
      rate: The mean, positive.
      log_rate: Its logarithm; give one of the two.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: Both or none of the rates are given.
    """

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = arguments_of(locals())
        if (rate is None) is (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with _v1.name_scope(name) as scope:
            if rate is not None:
                self.rate = tf.convert_to_tensor(rate)
                self.log_rate = tf.math.log(self.rate)
            else:
                self.log_rate = tf.convert_to_tensor(log_rate)
                self.rate = tf.exp(self.log_rate)
            super().__init__(self.rate, 0, NOT_REPARAMETERIZED, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        return tf.math.xlogy(x, self.rate) - tf.math.lgamma(1.0 + x) - self.rate

    def _cdf(self, x: TensorLike) -> tf.Tensor:
        # As in 1.15, a number between two counts is not rounded down.
        return tf.math.igammac(1.0 + x, self.rate)

    def _sample_n(self, n: int | tf.Tensor, seed: int | None = None) -> tf.Tensor:
        return tf.random.poisson([n], self.rate, self.dtype, seed)

    def _mean(self) -> tf.Tensor:
        return tf.identity(self.rate)

    def _variance(self) -> tf.Tensor:
        return tf.identity(self.rate)

    def _mode(self) -> tf.Tensor:
        return tf.math.floor(self.rate)


class Deterministic(ShapedDistribution):
    """Distribution of one number: all samples are `loc`.

    Args:
      loc: The number.
      atol: How far a value may be from `loc` and still have the probability 1; 0 by default.
      rtol: The same, as a share of `loc`.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.
    """

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        parameters = arguments_of(locals())
        with _v1.name_scope(name) as scope:
            self.loc = tf.convert_to_tensor(loc)
            self.atol = tf.convert_to_tensor(0 if atol is None else atol, self.loc.dtype)
            self.rtol = tf.convert_to_tensor(0 if rtol is None else rtol, self.loc.dtype)
            self._slack = self.atol + self.rtol * tf.abs(self.loc)
            super().__init__(self.loc, 0, NOT_REPARAMETERIZED, parameters, scope)

    def _prob(self, x: TensorLike) -> tf.Tensor:
        return tf.cast(tf.abs(x - self.loc) <= self._slack, self.dtype)

    def _cdf(self, x: TensorLike) -> tf.Tensor:
        return tf.cast(x >= self.loc - self._slack, self.dtype)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        del seed
        return tf.broadcast_to(self.loc, self._all_shapes(n))

    def _mean(self) -> tf.Tensor:
        return tf.identity(self.loc)

    def _mode(self) -> tf.Tensor:
        return tf.identity(self.loc)

    def _variance(self) -> tf.Tensor:
        return tf.zeros_like(self.loc)

    def _entropy(self) -> tf.Tensor:
        return tf.zeros_like(self.loc)
