"""One-hot vectors of classes, and their relaxation to numbers between 0 and 1."""

from typing import Any

import tensorflow as tf

from tf_contrib._types import DType, TensorLike
from tf_contrib.distributions.shaped import (
    NOT_REPARAMETERIZED,
    REPARAMETERIZED,
    ShapedDistribution,
    arguments_of,
    register_divergence,
)

_v1 = tf.compat.v1


def _read_classes(
    logits: TensorLike | None, probs: TensorLike | None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the logits and the probabilities of classes, given one of the two.

    Raises:
      ValueError: Both or none are given.
    """
    if (logits is None) is (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if logits is not None:
        logits = tf.convert_to_tensor(logits)
        return logits, tf.nn.softmax(logits)
    probs = tf.convert_to_tensor(probs)
    return tf.math.log(probs), probs


class OneHotCategorical(ShapedDistribution):
    """Distribution of one-hot vectors of classes.

    Args:
      logits: Unnormalized logarithms of the probabilities, shape (..., classes).
      probs: The probabilities; give one of the two.
      dtype: Type of the samples.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: Both or none of logits and probs are given.
    """

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DType = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = arguments_of(locals())
        with _v1.name_scope(name) as scope:
            self.logits, self.probs = _read_classes(logits, probs)
            like = tf.cast(tf.zeros_like(self.logits), dtype)
            self.event_size = tf.shape(self.logits)[-1]
            super().__init__(like, 1, NOT_REPARAMETERIZED, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        logarithms = tf.nn.log_softmax(self.logits)
        return tf.reduce_sum(tf.math.multiply_no_nan(logarithms, tf.cast(x, self.logits.dtype)), -1)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        flat = tf.reshape(self.logits, [-1, self.event_size])
        classes = tf.transpose(tf.random.categorical(flat, n, seed=seed))
        samples = tf.one_hot(classes, self.event_size, dtype=self.dtype)
        return tf.reshape(samples, self._all_shapes(n))

    def _entropy(self) -> tf.Tensor:
        return -tf.reduce_sum(self.probs * tf.nn.log_softmax(self.logits), -1)

    def _mode(self) -> tf.Tensor:
        return tf.one_hot(tf.argmax(self.logits, -1), self.event_size, dtype=self.dtype)

    def _covariance(self) -> tf.Tensor:
        products = self.probs[..., :, None] * self.probs[..., None, :]
        return tf.linalg.set_diag(-products, self._variance())

    def _variance(self) -> tf.Tensor:
        return self.probs * (1 - self.probs)


def _diverge(a: OneHotCategorical, b: OneHotCategorical) -> tf.Tensor:
    with tf.name_scope("kl_one_hot_categorical"):
        difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, -1)


register_divergence(OneHotCategorical, _diverge)


class ExpRelaxedOneHotCategorical(ShapedDistribution):
    """Distribution of the logarithms of relaxed one-hot vectors (Maddison et al., 2017).

    Args:
      temperature: Temperature: near 0, samples are almost one-hot vectors.
      logits: Unnormalized logarithms of the probabilities, shape (..., classes).
      probs: The probabilities; give one of the two.
      dtype: Type of the samples; that of the probabilities by default.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: Both or none of logits and probs are given.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DType | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        parameters = arguments_of(locals())
        with _v1.name_scope(name) as scope:
            self.logits, self.probs = _read_classes(logits, probs)
            self.temperature = tf.convert_to_tensor(temperature, self.logits.dtype)
            self.event_size = tf.shape(self.logits)[-1]
            like = self.logits + tf.zeros_like(self.temperature)[..., None]
            super().__init__(like, 1, REPARAMETERIZED, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        """Returns the logarithm of the density; formula: Maddison et al., 2017, equation 23."""
        size = tf.cast(self.event_size, self.dtype)
        constant = tf.math.lgamma(size) + (size - 1) * tf.math.log(self.temperature)
        powers = self.logits - self.temperature[..., None] * x
        return constant + tf.reduce_sum(powers, -1) - size * tf.reduce_logsumexp(powers, -1)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        tiny = self.dtype.as_numpy_dtype(1e-38 if self.dtype == tf.float32 else 1e-300)
        uniform = tf.random.uniform(self._all_shapes(n), tiny, 1.0, self.dtype, seed)
        gumbel = -tf.math.log(-tf.math.log(uniform))
        return tf.nn.log_softmax((gumbel + self.logits) / self.temperature[..., None])


class RelaxedOneHotCategorical(ShapedDistribution):
    """Distribution of relaxed one-hot vectors: the exponentials of `ExpRelaxedOneHotCategorical`.

    Args:
      temperature: Temperature: near 0, samples are almost one-hot vectors.
      logits: Unnormalized logarithms of the probabilities, shape (..., classes).
      probs: The probabilities; give one of the two.
      dtype: Type of the samples; that of the probabilities by default.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.

    Raises:
      ValueError: Both or none of logits and probs are given.
    """

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DType | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        parameters = arguments_of(locals())
        with _v1.name_scope(name) as scope:
            self.distribution: Any = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype)
            like = (
                self.distribution.logits + tf.zeros_like(self.distribution.temperature)[..., None]
            )
            super().__init__(like, 1, REPARAMETERIZED, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        logarithms = tf.math.log(x)
        return self.distribution.log_prob(logarithms) - tf.reduce_sum(logarithms, -1)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        return tf.exp(self.distribution.sample(n, seed=seed))
