"""What a series is the sum of: a level with a trend, cycles, and moving averages.

A component's state moves by `transition` from one time to the next, and has noise added that is
`noise_transform` times a vector with a covariance that is trained; `observation` times the state is
its share of the values.
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.math_utils import InputStatistics
from estimator_train.legacy.contrib.timeseries.state_space import covariances

_v1 = tf.compat.v1
_SMALLEST_START_VARIANCE = 1e-5


class Scales(NamedTuple):
    """What covariances are scaled by at first.

    Attributes:
      start_variances: Variances of the values at the beginning, in units of those of all values.
      log_start_variance: Logarithm of their mean.
      log_transition: The same, of how much states vary.
      level: The level at the beginning, in units of the standard deviation from the mean.
    """

    start_variances: Any
    log_start_variance: Any
    log_transition: Any
    level: Any


class Parts(NamedTuple):
    """A component in a graph: matrices and vectors of tensors.

    Attributes:
      mean: The state before the first time, [n].
      transition: [n, n].
      noise_transform: [n, k].
      noise: The covariance of the noise, [k, k].
      joint_noise: The same, of all values together; what a prior is taken of.
      observation: [number of values, n].
      log_prior: Logarithm of the prior of all covariances.
    """

    mean: Any
    transition: Any
    noise_transform: Any
    noise: Any
    joint_noise: Any
    observation: Any
    log_prior: Any


def scales_of(
    statistics: InputStatistics | None, log_tradeoff: Any, num_features: int, dtype: tf.DType
) -> Scales:
    """The scales for a series.

    Args:
      statistics: Those of the series, if they are known.
      log_tradeoff: Logarithm of how much observations vary, and states do not.
      num_features: How many values the series has at each time.
      dtype: The dtype of values.
    """
    if statistics is None:
        ones = tf.ones([num_features], dtype)
        return Scales(ones, tf.zeros([], dtype), -log_tradeoff, None)
    start, overall = statistics.series_start_moments, statistics.overall_feature_moments
    variances = tf.maximum(start.variance / overall.variance, _SMALLEST_START_VARIANCE)
    count = tf.cast(statistics.total_observation_count, dtype)
    level = tf.reduce_mean((start.mean - overall.mean) * tf.math.rsqrt(overall.variance))
    log_variance = tf.math.log(tf.reduce_mean(variances))
    return Scales(variances, log_variance, log_variance - log_tradeoff - tf.math.log(count), level)


class Component(abc.ABC):
    """One part of a series.

    Args:
      name: Scope of its variables.
      num_features: How many values the series has at each time.
      dtype: The dtype of values.
    """

    def __init__(self, name: str, num_features: int, dtype: tf.DType) -> None:
        self.name = name
        self.num_features = num_features
        self.dtype = dtype

    @abc.abstractmethod
    def parts(self, scales: Scales) -> Parts:
        """Makes the component in the default graph."""

    def _start(self, size: int, known: bool = False) -> tf.Tensor:
        """The mean of the state before the first time: not trained; at random, if not known."""
        initializer = _v1.zeros_initializer() if known else _v1.random_normal_initializer()
        name = "prior_state_mean"
        return _v1.get_variable(name, [size], self.dtype, initializer, trainable=False)

    def _noise(self, size: int, log_scale: Any) -> tf.Tensor:
        ones = tf.ones([size], self.dtype)
        return covariances.trained_covariance("state_transition_noise", ones, log_scale)


class OfEachFeature(Component):
    """A component whose states belong to one value each; only their noise goes together."""

    transition: np.ndarray
    noise_transform: np.ndarray

    def parts(self, scales: Scales) -> Parts:
        """See the base class."""
        count, (size, noise_size) = self.num_features, self.noise_transform.shape
        means, log_prior = [], 0.0
        with _v1.variable_scope(self.name, use_resource=True):
            for feature in range(count):
                with _v1.variable_scope(f"feature{feature}"):
                    noise = self._noise(noise_size, scales.log_transition)
                    log_prior += covariances.log_prior(noise)
                    means.append(self._start_state(size, scales))
            joint = self._noise(noise_size * count, scales.log_transition)
        each = np.eye(count)
        transition, transform, observation = (
            tf.constant(np.kron(each, matrix), self.dtype)
            for matrix in (self.transition, self.noise_transform, np.eye(1, size))
        )
        log_prior += covariances.log_prior(joint)
        # As in tf.contrib: the joint noise of a single value has a prior, and moves nothing.
        moving = noise if count == 1 else joint
        start = tf.concat(means, 0)
        return Parts(start, transition, transform, moving, joint, observation, log_prior)

    def _start_state(self, size: int, scales: Scales) -> Any:
        return self._start(size)


class LevelTrend(OfEachFeature):
    """A level, and the trend by which it changes."""

    transition = np.array([[1.0, 1.0], [0.0, 1.0]])
    noise_transform = np.eye(2)

    def _start_state(self, size: int, scales: Scales) -> Any:
        if scales.level is None:
            return self._start(size)
        return self._start(size, known=True) + tf.stack([scales.level, tf.zeros_like(scales.level)])


class Cycle(OfEachFeature):
    """Values that come again after a period, and whose sum over it is zero.

    The other arguments are those of Component.

    Args:
      period: How many times a cycle takes; any positive number.
      num_values: How many values a cycle has, an odd number; between them it is interpolated.

    Raises:
      ValueError: The number of values is even.
    """

    def __init__(
        self, name: str, num_features: int, dtype: tf.DType, period: Any, num_values: int
    ) -> None:
        super().__init__(name, num_features, dtype)
        if num_values % 2 == 0:
            raise ValueError("Only odd numbers of latent values are supported.")
        size = num_values - 1
        self.noise_transform = np.eye(size, 1)
        # The last value is what makes the sum zero.
        whole = np.vstack([np.eye(size), -np.ones([1, size])])
        self.transition = (_turned(num_values, num_values / float(period)) @ whole)[:size]


def _turned(size: int, steps: float) -> np.ndarray:
    """The matrix that turns a cycle of values by a number of steps, which need not be whole.

    By the shift theorem of the Fourier transform.
    """
    frequencies = np.fft.fftfreq(size)
    shifts = np.exp(-2j * np.pi * frequencies * steps)
    columns = np.fft.ifft(shifts[:, None] * np.fft.fft(np.eye(size), axis=0), axis=0)
    return columns.real


class MovingAverages(Component):
    """Vectors that depend on the noise of earlier times and on earlier vectors (VARMA).

    The other arguments are those of Component.

    Args:
      autoregressive_order: On how many vectors.
      moving_average_order: On the noise of how many times before.
    """

    def __init__(
        self,
        name: str,
        num_features: int,
        dtype: tf.DType,
        autoregressive_order: int,
        moving_average_order: int,
    ) -> None:
        super().__init__(name, num_features, dtype)
        self._autoregressive = autoregressive_order
        self._averaged = moving_average_order
        self._blocks = max(autoregressive_order, moving_average_order + 1)

    def parts(self, scales: Scales) -> Parts:
        """See the base class."""
        count, blocks = self.num_features, self._blocks
        size = count * blocks
        each = tf.eye(count, dtype=self.dtype)
        with _v1.variable_scope(self.name, use_resource=True):
            shape = [count, count, self._autoregressive]
            zeros = _v1.zeros_initializer()
            past = _v1.get_variable("ar_coefs", shape, self.dtype, zeros)
            ones = tf.tile(each[None], [self._averaged, 1, 1])
            shocks = _v1.get_variable("ma_coefs", initializer=ones)
            noise = self._noise(count, scales.log_start_variance)
            start = self._start(size)
        # Coefficients of several values stand as tf.contrib laid them out, orders together.
        past = tf.pad(past, [[0, 0], [0, 0], [0, blocks - self._autoregressive]])
        moved = np.eye(size - count, size)
        transition = tf.concat([tf.reshape(past, [count, size]), moved], 0)
        unused = tf.zeros([(blocks - 1 - self._averaged) * count, count], self.dtype)
        transform = [unused, tf.reshape(shocks, [-1, count]), each]
        return Parts(
            start,
            transition,
            tf.concat(transform, 0),
            noise,
            noise,
            tf.constant(np.kron(self._observed_blocks(), np.eye(count)), self.dtype),
            covariances.log_prior(noise),
        )

    def _observed_blocks(self) -> np.ndarray:
        """Which parts of a state are observed: the first, and the last if it is noise alone."""
        observed = np.eye(1, self._blocks)
        if self._autoregressive < self._blocks:
            observed[0, -1] = 1
        return observed


def together(parts: Sequence[Parts]) -> Parts:
    """One component that is the sum of several."""

    def blocks(matrices: Sequence[Any]) -> Any:
        operators = [tf.linalg.LinearOperatorFullMatrix(matrix) for matrix in matrices]
        return tf.linalg.LinearOperatorBlockDiag(operators).to_dense()

    joint = blocks([part.joint_noise for part in parts])
    return Parts(
        tf.concat([part.mean for part in parts], 0),
        blocks([part.transition for part in parts]),
        _joined([part.noise_transform for part in parts]),
        blocks([part.noise for part in parts]),
        joint,
        tf.concat([part.observation for part in parts], 1),
        sum(part.log_prior for part in parts) + covariances.log_prior(joint),
    )


def _joined(matrices: Sequence[Any]) -> tf.Tensor:
    """Matrices that need not be square, one after the other along the diagonal."""
    widths = [matrix.shape.as_list()[1] for matrix in matrices]
    rows, before = [], 0
    for matrix, width in zip(matrices, widths, strict=True):
        rows.append(tf.pad(matrix, [[0, 0], [before, sum(widths) - before - width]]))
        before += width
    return tf.concat(rows, 0)
