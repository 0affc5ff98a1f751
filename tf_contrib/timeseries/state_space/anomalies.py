"""Observations that may be anomalies, which contain no information about the state."""

import math
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib.timeseries.state_space.filtering import Estimate

# Scale of the Cauchy distribution of anomalies, in standard deviations of the expected values.
# The exact value of tf.contrib.
_CAUCHY_SCALE = math.sqrt(math.e / (8 * math.pi))


class AnomalyMixture(NamedTuple):
    """State after observations that may be anomalies.

    Attributes:
      state: State between those before and after the observation.
      loss: Negative expected log density of the observation, [batch].
      score: Log odds of an anomaly, [batch].
    """

    state: Estimate
    loss: Any
    score: Any


def mix_anomaly(
    prior_probability: float,
    before: Estimate,
    after: Estimate,
    expected: Estimate,
    values: tf.Tensor,
    log_likelihood: tf.Tensor,
) -> AnomalyMixture:
    """Computes the state after an observation that may be an anomaly.

    Args:
      prior_probability: Probability of an anomaly, between 0 and 1.
      before: State before the observation.
      after: State after the observation, if it is no anomaly.
      expected: Expected observation.
      values: Observation, [batch, values].
      log_likelihood: Log density of the observation, if it is no anomaly, [batch].
    """
    anomalous = _cauchy_log_likelihood(expected, values) + math.log(prior_probability)
    normal = log_likelihood + math.log1p(-prior_probability)
    score = anomalous - normal
    share = tf.sigmoid(score)
    loss = -(share * anomalous + (1 - share) * normal)
    return AnomalyMixture(_interpolate(after, before, share), loss, score)


def _cauchy_log_likelihood(expected: Estimate, values: tf.Tensor) -> tf.Tensor:
    """Returns the log density of independent Cauchy distributions around the expected values."""
    scales = _CAUCHY_SCALE * tf.sqrt(tf.linalg.diag_part(expected.covariance))
    distances = (values - expected.mean) / scales
    return -tf.reduce_sum(tf.math.log(math.pi * scales) + tf.math.log1p(distances**2), -1)


def _interpolate(one: Estimate, other: Estimate, share: tf.Tensor) -> Estimate:
    """Returns an estimate between two others; `share` is the weight of the second one."""
    mean = one.mean + share[:, None] * (other.mean - one.mean)
    difference = other.covariance - one.covariance
    return Estimate(mean, one.covariance + share[:, None, None] * difference)
