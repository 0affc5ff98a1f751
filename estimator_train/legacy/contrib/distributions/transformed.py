"""Distribution of a number that a bijector computes from one of another distribution."""

from typing import Any

import tensorflow as tf

from estimator_train.legacy.contrib._types import TensorLike
from estimator_train.legacy.contrib.distributions.mixtures import make_like
from estimator_train.legacy.contrib.distributions.shaped import ShapedDistribution, arguments_of


class TransformedDistribution(ShapedDistribution):
    """Distribution of `bijector.forward(x)`, where `x` is of another distribution.

    log p(y) = log p(x) + log |det dx/dy|, with x = bijector.inverse(y).

    Args:
      distribution: Distribution of `x`: one of this module, of `tf.compat.v1.distributions` or of
        tensorflow-probability.
      bijector: Bijector of tensorflow-probability, or another object with its methods.
      batch_shape: Not supported; None.
      event_shape: Not supported; None.
      validate_args: Kept as an attribute; values are not checked.
      name: Name scope of the operations; by default the names of the bijector and distribution.

    Raises:
      NotImplementedError: There is a batch_shape or event_shape.
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
        if batch_shape is not None or event_shape is not None:
            raise NotImplementedError(
                "TransformedDistribution has no batch_shape and event_shape here: give them to "
                f"the inner distribution, {distribution}."
            )
        self.distribution, self.bijector = distribution, bijector
        name = name or "".join(one.name.strip("/") for one in (bijector, distribution) if one)
        with tf.compat.v1.name_scope(name) as scope:
            like = self._transform(make_like(distribution))
            kind = distribution.reparameterization_type
            super().__init__(like, distribution.event_shape.rank, kind, parameters, scope)

    def _transform(self, x: tf.Tensor) -> tf.Tensor:
        return x if self.bijector is None else self.bijector.forward(x)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        return self._transform(self.distribution.sample(n, seed=seed))

    def _log_prob(self, y: TensorLike) -> tf.Tensor:
        if self.bijector is None:
            return self.distribution.log_prob(y)
        events = self.distribution.event_shape.rank
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=events)
        return self.distribution.log_prob(self.bijector.inverse(y)) + log_det
