"""Observations that may be anomalies, which then say nothing of the state."""

import math
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.state_space.filtering import Estimate

# The scale of the Cauchy distribution of anomalies, in standard deviations of what was expected.
# Its value is that of tf.contrib, to all its digits.
_SCALE = math.sqrt(math.e / (8 * math.pi))


class Mixed(NamedTuple):
    """The state after observations each of which may be an anomaly.

    Attributes:
      state: It lies between the states before and after the observation.
      loss: Minus the expected logarithm of the density of the observation, [batch].
      score: Logarithm of the odds that it is an anomaly, [batch].
    """

    state: Estimate
    loss: Any
    score: Any


def mixed(
    prior_probability: float,
    before: Estimate,
    after: Estimate,
    expected: Estimate,
    values: Any,
    log_likelihood: Any,
) -> Mixed:
    """The state after an observation that may be an anomaly.

    Args:
      prior_probability: How probable an anomaly is, between 0 and 1.
      before: The state before the observation.
      after: The state after it, if it is none.
      expected: What was to be observed.
      values: The observation, [batch, number of values].
      log_likelihood: Logarithm of its density, if it is none, [batch].
    """
    anomalous = _cauchy_log_likelihood(expected, values) + math.log(prior_probability)
    normal = log_likelihood + math.log1p(-prior_probability)
    score = anomalous - normal
    share = tf.sigmoid(score)
    loss = -(share * anomalous + (1 - share) * normal)
    return Mixed(_between(after, before, share), loss, score)


def _cauchy_log_likelihood(expected: Estimate, values: Any) -> tf.Tensor:
    """Of independent Cauchy distributions around what was expected."""
    scales = _SCALE * tf.sqrt(tf.linalg.diag_part(expected.covariance))
    distances = (values - expected.mean) / scales
    return -tf.reduce_sum(tf.math.log(math.pi * scales) + tf.math.log1p(distances**2), -1)


def _between(one: Estimate, other: Estimate, share: Any) -> Estimate:
    """Estimates with a share of the other in each mean and covariance."""
    mean = one.mean + share[:, None] * (other.mean - one.mean)
    difference = other.covariance - one.covariance
    return Estimate(mean, one.covariance + share[:, None, None] * difference)
