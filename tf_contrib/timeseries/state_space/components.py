"""Components of a series: a level with a trend, cycles, and moving averages.

From one time to the next, the state of a component is multiplied by `transition`, and
`noise_transform` times a random vector is added, whose covariance is trained. `observation` times
the state is added to the values of the series.
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tf_contrib.timeseries.math_utils import InputStatistics
from tf_contrib.timeseries.state_space import covariances

_v1 = tf.compat.v1
_SMALLEST_START_VARIANCE = 1e-5


class Scales(NamedTuple):
    """Initial scales of covariances.

    Attributes:
      start_variances: Variances of the first values, divided by those of all values.
      log_start_variance: Log of the mean of start_variances.
      log_transition: Log of the initial variance of the states' noise.
      level: Initial level, as a deviation from the mean in standard deviations.
    """

    start_variances: Any
    log_start_variance: Any
    log_transition: Any
    level: Any


class Parts(NamedTuple):
    """Matrices and vectors of a component in a graph.

    Attributes:
      mean: State before the first time, [n].
      transition: [n, n].
      noise_transform: [n, k].
      noise: Covariance of the noise, [k, k].
      joint_noise: Covariance of the noise of all values together, for the prior.
      observation: [values, n].
      log_prior: Log prior of all covariances.
    """

    mean: Any
    transition: Any
    noise_transform: Any
    noise: Any
    joint_noise: Any
    observation: Any
    log_prior: Any


def compute_scales(
    statistics: InputStatistics | None, log_tradeoff: tf.Tensor, num_features: int, dtype: tf.DType
) -> Scales:
    """Computes the initial scales of a series.

    Args:
      statistics: Statistics of the series, or None.
      log_tradeoff: Log ratio of the variances of observations and states.
      num_features: Number of values at each time.
      dtype: Type of the values.
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
    """Base class of the components of a series.

    Args:
      name: Scope of the variables.
      num_features: Number of values at each time.
      dtype: Type of the values.
    """

    def __init__(self, name: str, num_features: int, dtype: tf.DType) -> None:
        self.name = name
        self.num_features = num_features
        self.dtype = dtype

    @abc.abstractmethod
    def create_parts(self, scales: Scales) -> Parts:
        """Creates the matrices of the component in the default graph."""

    def _create_start_mean(self, size: int, is_known: bool = False) -> tf.Tensor:
        """Creates the untrained mean of the first state: zeros if it is known, otherwise random."""
        initializer = _v1.zeros_initializer() if is_known else _v1.random_normal_initializer()
        name = "prior_state_mean"
        return _v1.get_variable(name, [size], self.dtype, initializer, trainable=False)

    def _create_noise(self, size: int, log_scale: tf.Tensor) -> tf.Tensor:
        ones = tf.ones([size], self.dtype)
        return covariances.create_covariance("state_transition_noise", ones, log_scale)


class IndependentComponent(Component):
    """Component with separate states for each value, whose noise is correlated."""

    transition: np.ndarray
    noise_transform: np.ndarray

    def create_parts(self, scales: Scales) -> Parts:
        """See the base class."""
        count, (size, noise_size) = self.num_features, self.noise_transform.shape
        means, log_prior = [], 0.0
        with _v1.variable_scope(self.name, use_resource=True):
            for feature in range(count):
                with _v1.variable_scope(f"feature{feature}"):
                    noise = self._create_noise(noise_size, scales.log_transition)
                    log_prior += covariances.compute_log_prior(noise)
                    means.append(self._create_start_state(size, scales))
            joint = self._create_noise(noise_size * count, scales.log_transition)
        identity = np.eye(count)
        transition, transform, observation = (
            tf.constant(np.kron(identity, matrix), self.dtype)
            for matrix in (self.transition, self.noise_transform, np.eye(1, size))
        )
        log_prior += covariances.compute_log_prior(joint)
        # As in tf.contrib, the joint noise of a single value has a prior but no effect.
        noise_of_transition = noise if count == 1 else joint
        start = tf.concat(means, 0)
        return Parts(
            start, transition, transform, noise_of_transition, joint, observation, log_prior
        )

    def _create_start_state(self, size: int, scales: Scales) -> tf.Tensor:
        return self._create_start_mean(size)


class LevelTrend(IndependentComponent):
    """Level of a series, and the trend by which it changes."""

    transition = np.array([[1.0, 1.0], [0.0, 1.0]])
    noise_transform = np.eye(2)

    def _create_start_state(self, size: int, scales: Scales) -> tf.Tensor:
        if scales.level is None:
            return self._create_start_mean(size)
        return self._create_start_mean(size, is_known=True) + tf.stack(
            [scales.level, tf.zeros_like(scales.level)]
        )


class Cycle(IndependentComponent):
    """Values that repeat after a period and sum to zero over a period.

    The arguments that are not listed are those of Component.

    Args:
      period: Length of a cycle, any positive number.
      num_values: Number of values in a cycle, an odd number; the values are interpolated.

    Raises:
      ValueError: num_values is even.
    """

    def __init__(
        self, name: str, num_features: int, dtype: tf.DType, period: int | float, num_values: int
    ) -> None:
        super().__init__(name, num_features, dtype)
        if num_values % 2 == 0:
            raise ValueError("Only odd numbers of latent values are supported.")
        size = num_values - 1
        self.noise_transform = np.eye(size, 1)
        # The last value is minus the sum of the others.
        all_values = np.vstack([np.eye(size), -np.ones([1, size])])
        self.transition = (_create_rotation(num_values, num_values / float(period)) @ all_values)[
            :size
        ]


def _create_rotation(size: int, steps: float) -> np.ndarray:
    """Returns the matrix that rotates a cycle of values by any number of steps.

    It uses the shift theorem of the Fourier transform.
    """
    frequencies = np.fft.fftfreq(size)
    shifts = np.exp(-2j * np.pi * frequencies * steps)
    columns = np.fft.ifft(shifts[:, None] * np.fft.fft(np.eye(size), axis=0), axis=0)
    return columns.real


class MovingAverages(Component):
    """Vectors that depend on earlier noise and earlier vectors (VARMA).

    The arguments that are not listed are those of Component.

    Args:
      autoregressive_order: Number of earlier vectors.
      moving_average_order: Number of earlier times whose noise has an effect.
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
        self._autoregressive_order = autoregressive_order
        self._moving_average_order = moving_average_order
        self._num_blocks = max(autoregressive_order, moving_average_order + 1)

    def create_parts(self, scales: Scales) -> Parts:
        """See the base class."""
        count, blocks = self.num_features, self._num_blocks
        size = count * blocks
        identity = tf.eye(count, dtype=self.dtype)
        with _v1.variable_scope(self.name, use_resource=True):
            shape = [count, count, self._autoregressive_order]
            zeros = _v1.zeros_initializer()
            past = _v1.get_variable("ar_coefs", shape, self.dtype, zeros)
            ones = tf.tile(identity[None], [self._moving_average_order, 1, 1])
            shocks = _v1.get_variable("ma_coefs", initializer=ones)
            noise = self._create_noise(count, scales.log_start_variance)
            start = self._create_start_mean(size)
        # The layout of the coefficients is that of tf.contrib: orders vary fastest.
        past = tf.pad(past, [[0, 0], [0, 0], [0, blocks - self._autoregressive_order]])
        shift = np.eye(size - count, size)
        transition = tf.concat([tf.reshape(past, [count, size]), shift], 0)
        unused = tf.zeros([(blocks - 1 - self._moving_average_order) * count, count], self.dtype)
        transform = [unused, tf.reshape(shocks, [-1, count]), identity]
        return Parts(
            start,
            transition,
            tf.concat(transform, 0),
            noise,
            noise,
            tf.constant(np.kron(self._get_observed_blocks(), np.eye(count)), self.dtype),
            covariances.compute_log_prior(noise),
        )

    def _get_observed_blocks(self) -> np.ndarray:
        """Returns the observed blocks of a state: the first, and the last if it is pure noise."""
        observed = np.eye(1, self._num_blocks)
        if self._autoregressive_order < self._num_blocks:
            observed[0, -1] = 1
        return observed


def combine(parts: Sequence[Parts]) -> Parts:
    """Combines components into one, whose values are the sum of theirs."""

    def join_blocks(matrices: Sequence[Any]) -> tf.Tensor:
        operators = [tf.linalg.LinearOperatorFullMatrix(matrix) for matrix in matrices]
        return tf.linalg.LinearOperatorBlockDiag(operators).to_dense()

    joint = join_blocks([part.joint_noise for part in parts])
    return Parts(
        tf.concat([part.mean for part in parts], 0),
        join_blocks([part.transition for part in parts]),
        _join_diagonally([part.noise_transform for part in parts]),
        join_blocks([part.noise for part in parts]),
        joint,
        tf.concat([part.observation for part in parts], 1),
        sum(part.log_prior for part in parts) + covariances.compute_log_prior(joint),
    )


def _join_diagonally(matrices: Sequence[Any]) -> tf.Tensor:
    """Joins matrices along the diagonal; they need not be square."""
    widths = [matrix.shape.as_list()[1] for matrix in matrices]
    rows, offset = [], 0
    for matrix, width in zip(matrices, widths, strict=True):
        rows.append(tf.pad(matrix, [[0, 0], [offset, sum(widths) - offset - width]]))
        offset += width
    return tf.concat(rows, 0)
