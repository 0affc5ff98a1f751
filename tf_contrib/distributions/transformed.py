"""Distribution of a number that a bijector computes from one of another distribution."""

from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.distributions.mixtures import make_zeros_like
from tf_contrib.distributions.shaped import ShapedDistribution, arguments_of


class TransformedDistribution(ShapedDistribution):
    """Distribution of `bijector.forward(x)`, where `x` is of another distribution.

    log p(y) = log p(x) + log |det dx/dy|, with x = bijector.inverse(y).

    Args:
      distribution: Distribution of `x`: one of this module, of `tf.compat.v1.distributions` or of
        tensorflow-probability.
      bijector: Bijector of tensorflow-probability, or another object with its methods.
      batch_shape: Shape of a batch of independent `x`, if the distribution is not of a batch.
      event_shape: Shape of an event of independent `x`, if the distribution is of single numbers.
      validate_args: Kept as an attribute; values are not checked.
      name: Name scope of the operations; by default the names of the bijector and distribution.

    Raises:
      ValueError: The distribution has another shape where one is given.
    """

    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: TensorLike | None = None,
        event_shape: TensorLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = arguments_of(locals())
        self.distribution, self.bijector = distribution, bijector
        name = name or "".join(one.name.strip("/") for one in (bijector, distribution) if one)
        with tf.compat.v1.name_scope(name) as scope:
            self._own_batch = _choose_shape(batch_shape, distribution.batch_shape)
            self._own_event = _choose_shape(event_shape, distribution.event_shape)
            inner = make_zeros_like(distribution)
            shapes = [self._own_batch, tf.shape(inner), self._own_event]
            like = self._transform(tf.zeros(tf.concat(shapes, 0), inner.dtype))
            events = distribution.event_shape.rank + int(self._own_event.shape[0])
            kind = distribution.reparameterization_type
            super().__init__(like, events, kind, parameters, scope)

    def _transform(self, x: tf.Tensor) -> tf.Tensor:
        return x if self.bijector is None else self.bijector.forward(x)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        own = int(self._own_event.shape[0])
        if not own or not self.distribution.batch_shape.rank:
            shape = tf.concat([[n], self._own_batch, self._own_event], 0)
            return self._transform(self.distribution.sample(shape, seed=seed))
        # The axes of an own event come first, since those of the inner batch come last.
        x = self.distribution.sample(tf.concat([self._own_event, [n]], 0), seed=seed)
        axes = list(range(x.shape.rank))
        return self._transform(tf.transpose(x, axes[own:] + axes[:own]))

    def _log_prob(self, y: TensorLike) -> tf.Tensor:
        if self.bijector is None:
            return self._log_prob_of_inner(y)
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._event_rank)
        return self._log_prob_of_inner(self.bijector.inverse(y)) + log_det

    def _log_prob_of_inner(self, x: TensorLike) -> tf.Tensor:
        own = int(self._own_event.shape[0])
        if own and self.distribution.batch_shape.rank:
            axes = list(range(x.shape.rank))
            x = tf.transpose(x, axes[-own:] + axes[:-own])
            return tf.reduce_sum(self.distribution.log_prob(x), list(range(own)))
        return tf.reduce_sum(self.distribution.log_prob(x), list(range(-own, 0)))


def _choose_shape(shape: TensorLike | None, inner: tf.TensorShape) -> tf.Tensor:
    """Returns the shape that is given instead of the inner one, or no axes."""
    if shape is None:
        return tf.zeros([0], tf.int32)
    if inner.rank:
        raise ValueError("base distribution not scalar")
    return tf.convert_to_tensor(shape, tf.int32)
