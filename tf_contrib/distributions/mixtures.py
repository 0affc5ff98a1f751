"""Distributions made of others: mixtures, and batch axes that become axes of events."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.distributions.shaped import (
    NOT_REPARAMETERIZED,
    ShapedDistribution,
    arguments_of,
    register_divergence,
)

_v1 = tf.compat.v1
# A distribution of `tf.compat.v1.distributions`, or another with its methods.
_Distribution = Any


def make_zeros_like(distribution: _Distribution) -> tf.Tensor:
    """Returns zeros of the shape and type of one sample."""
    shape = tf.concat([distribution.batch_shape_tensor(), distribution.event_shape_tensor()], 0)
    zeros = tf.zeros(shape, distribution.dtype)
    zeros.set_shape(distribution.batch_shape.concatenate(distribution.event_shape))
    return zeros


def _add_event_axes(probs: tf.Tensor, events: int) -> tf.Tensor:
    """Adds axes of size 1 for the axes of an event."""
    return probs[(..., *([None] * events))]


class Independent(ShapedDistribution):
    """Distribution whose last batch axes are axes of an event, of independent numbers.

    Args:
      distribution: The inner distribution.
      reinterpreted_batch_ndims: Number of axes; all but the first by default.
      validate_args: Kept as an attribute; values are not checked.
      name: Name scope of the operations; "Independent" and the inner name by default.
    """

    def __init__(
        self,
        distribution: _Distribution,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = arguments_of(locals())
        axes = reinterpreted_batch_ndims
        if axes is None:
            axes = max(0, distribution.batch_shape.rank - 1)
        self.distribution, self.reinterpreted_batch_ndims = distribution, int(axes)
        self._axes = list(range(-int(axes), 0))
        rank = distribution.event_shape.rank + int(axes)
        kind = distribution.reparameterization_type
        with _v1.name_scope(name or f"Independent{distribution.name}") as scope:
            super().__init__(make_zeros_like(distribution), rank, kind, parameters, scope)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        return tf.reduce_sum(self.distribution.log_prob(x), self._axes)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        return self.distribution.sample(n, seed=seed)

    def _entropy(self) -> tf.Tensor:
        return tf.reduce_sum(self.distribution.entropy(), self._axes)

    def _mean(self) -> tf.Tensor:
        return self.distribution.mean()

    def _variance(self) -> tf.Tensor:
        return self.distribution.variance()

    def _stddev(self) -> tf.Tensor:
        return self.distribution.stddev()

    def _mode(self) -> tf.Tensor:
        return self.distribution.mode()


def _diverge(a: Independent, b: Independent) -> tf.Tensor:
    if a.reinterpreted_batch_ndims != b.reinterpreted_batch_ndims:
        raise NotImplementedError("The divergence of distributions with other axes is not known.")
    with tf.name_scope("kl_independent"):
        inner = _v1.distributions.kl_divergence(a.distribution, b.distribution)
        return tf.reduce_sum(inner, list(range(-a.reinterpreted_batch_ndims, 0)))


register_divergence(Independent, _diverge)


class Mixture(ShapedDistribution):
    """Mixture of several distributions.

    Args:
      cat: A `Categorical`, which chooses the number of a component.
      components: The distributions, of equal shapes and types.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      use_static_graph: Not used: all components are sampled in any case.
      name: Name scope of the operations.

    Raises:
      TypeError: The components are not a list.
      ValueError: There are no components, or they have several types.
    """

    def __init__(
        self,
        cat: _Distribution,
        components: Sequence[_Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = arguments_of(locals())
        if not isinstance(components, (list, tuple)):
            raise TypeError(f"components must be a list or tuple, but saw: {components}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if len({one.dtype for one in components}) > 1:
            raise ValueError("All components must have the same dtype.")
        self.cat, self.components, self.num_components = cat, list(components), len(components)
        rank = components[0].event_shape.rank
        with _v1.name_scope(name) as scope:
            like = make_zeros_like(components[0])
            super().__init__(like, rank, NOT_REPARAMETERIZED, parameters, scope)

    def _weigh(self, values: Sequence[tf.Tensor], events: int) -> tf.Tensor:
        """Returns the mean of the components' values, which have a number of event axes."""
        probs = tf.nn.softmax(self.cat.logits)
        shares = [_add_event_axes(probs[..., i], events) for i in range(self.num_components)]
        return tf.add_n([share * value for share, value in zip(shares, values, strict=True)])

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        chosen = tf.nn.log_softmax(self.cat.logits)
        logs = [chosen[..., i] + one.log_prob(x) for i, one in enumerate(self.components)]
        return tf.reduce_logsumexp(tf.stack(logs), 0)

    def _cdf(self, x: TensorLike) -> tf.Tensor:
        return self._weigh([one.cdf(x) for one in self.components], 0)

    def _mean(self) -> tf.Tensor:
        return self._weigh([one.mean() for one in self.components], self._event_rank)

    def _variance(self) -> tf.Tensor:
        squares = [one.variance() + one.mean() ** 2 for one in self.components]
        return self._weigh(squares, self._event_rank) - self._mean() ** 2

    def _stddev(self) -> tf.Tensor:
        return tf.sqrt(self._variance())

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        chosen = self.cat.sample(n, seed=seed)
        seeds = [None if seed is None else seed + 1 + i for i in range(self.num_components)]
        pairs = zip(self.components, seeds, strict=True)
        stacked = tf.stack([one.sample(n, seed=own) for one, own in pairs], -1)
        mask = tf.one_hot(chosen, self.num_components, dtype=stacked.dtype)
        for _ in range(self._event_rank):
            mask = mask[..., None, :]
        return tf.reduce_sum(stacked * mask, -1)

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> tf.Tensor:
        """Returns the mean of the components' entropies, which the entropy is not below."""
        with tf.name_scope(name):
            return self._weigh([one.entropy() for one in self.components], 0)


class MixtureSameFamily(ShapedDistribution):
    """Mixture of the members of a batch of one distribution.

    Args:
      mixture_distribution: A `Categorical`, which chooses the number of a component.
      components_distribution: The components, along its last batch axis.
      validate_args: Kept as an attribute; values are not checked.
      allow_nan_stats: Kept as an attribute.
      name: Name scope of the operations.
    """

    def __init__(
        self,
        mixture_distribution: _Distribution,
        components_distribution: _Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = arguments_of(locals())
        self.mixture_distribution = mixture_distribution
        self.components_distribution = components_distribution
        rank = components_distribution.event_shape.rank
        # The axis of the components, after which come those of the event.
        self._axis = -1 - rank
        with _v1.name_scope(name) as scope:
            like = tf.reduce_sum(make_zeros_like(components_distribution), self._axis)
            super().__init__(like, rank, NOT_REPARAMETERIZED, parameters, scope)

    def _weigh(self, values: tf.Tensor, events: int) -> tf.Tensor:
        """Returns the mean over the components of values with a number of event axes."""
        probs = tf.nn.softmax(self.mixture_distribution.logits)
        return tf.reduce_sum(_add_event_axes(probs, events) * values, -1 - events)

    def _log_prob(self, x: TensorLike) -> tf.Tensor:
        logs = self.components_distribution.log_prob(tf.expand_dims(x, self._axis))
        return tf.reduce_logsumexp(logs + tf.nn.log_softmax(self.mixture_distribution.logits), -1)

    def _cdf(self, x: TensorLike) -> tf.Tensor:
        return self._weigh(self.components_distribution.cdf(tf.expand_dims(x, self._axis)), 0)

    def _mean(self) -> tf.Tensor:
        return self._weigh(self.components_distribution.mean(), self._event_rank)

    def _variance(self) -> tf.Tensor:
        inner = self.components_distribution
        squares = inner.variance() + inner.mean() ** 2
        return self._weigh(squares, self._event_rank) - self._mean() ** 2

    def _covariance(self) -> tf.Tensor:
        inner = self.components_distribution
        apart = inner.mean() - tf.expand_dims(self._mean(), -2)
        between = apart[..., :, None] * apart[..., None, :]
        return self._weigh(inner.covariance() + between, 2)

    def _stddev(self) -> tf.Tensor:
        return tf.sqrt(self._variance())

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> tf.Tensor:
        samples = self.components_distribution.sample(n, seed=seed)
        shape = [n]
        if self.mixture_distribution.batch_shape.rank == 0:
            shape = tf.concat([[n], self._batch_shape_tensor()], 0)
        own_seed = None if seed is None else seed + 1
        chosen = self.mixture_distribution.sample(shape, seed=own_seed)
        count = tf.shape(samples)[self._axis]
        mask = tf.one_hot(chosen, count, dtype=samples.dtype)
        return tf.reduce_sum(samples * _add_event_axes(mask, self._event_rank), self._axis)
