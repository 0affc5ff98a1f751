"""Statistics of a series, by which models scale it."""

from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import TensorLike
from tf_contrib.timeseries.feature_keys import TrainEvalFeatures

_v1 = tf.compat.v1


class Moments(NamedTuple):
    """Mean and variance of each value of a series."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """Statistics of a series.

    Attributes:
      series_start_moments: Moments of the first values.
      overall_feature_moments: Moments of all values.
      start_time: First time.
      total_observation_count: Estimated number of times.
    """

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class InputStatisticsFromMiniBatch:
    """Collector of statistics from the windows of a training.

    Args:
      num_features: Number of values at each time.
      dtype: Type of the values.
      starting_variance_window_size: Number of first times for `series_start_moments`.
    """

    def __init__(
        self, num_features: int, dtype: tf.DType, starting_variance_window_size: int = 16
    ) -> None:
        self._num_features = num_features
        self._dtype = dtype
        self._start_size = starting_variance_window_size

    def initialize_graph(
        self, features: dict[str, TensorLike], update_statistics: bool = True
    ) -> InputStatistics:
        """Returns the statistics, updated by a batch of windows.

        Args:
          features: Times and values of windows.
          update_statistics: Whether to update the statistics.
        """
        size = [self._num_features]
        with _v1.variable_scope("input_statistics", use_resource=True):
            statistics = InputStatistics(
                Moments(
                    self._create_variable("series_start_mean", size),
                    self._create_variable("series_start_variance", size, 1.0),
                ),
                Moments(
                    self._create_variable("overall_feature_mean", size),
                    self._create_variable("overall_feature_var", size, 1.0),
                ),
                self._create_variable("start_time", [], tf.int64.max, tf.int64),
                self._create_variable("total_observation_count", [], 1, tf.int64),
            )
        if not update_statistics:
            return statistics
        times = tf.convert_to_tensor(features[TrainEvalFeatures.TIMES], tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], self._dtype)
        with _v1.variable_scope("input_statistics_auxiliary", use_resource=True):
            overall = self._update_overall_moments(values)
            count = self._update_count(
                times, tf.minimum(statistics.start_time, tf.reduce_min(times))
            )
        updated = InputStatistics(
            self._compute_start_moments(statistics, times, values),
            overall,
            tf.minimum(statistics.start_time, tf.reduce_min(times)),
            count,
        )
        # The start moments depend on the old start time, so assign after all values are computed.
        with tf.control_dependencies(tf.nest.flatten(updated)):
            pairs = zip(tf.nest.flatten(statistics), tf.nest.flatten(updated), strict=True)
            assignments = [variable.assign(value, read_value=False) for variable, value in pairs]
        with tf.control_dependencies(assignments):
            return tf.nest.map_structure(tf.identity, updated)

    def _create_variable(
        self, name: str, shape: list[int], value: float = 0, dtype: tf.DType | None = None
    ) -> tf.Variable:
        initializer = _v1.constant_initializer(value)
        variable_dtype = dtype or self._dtype
        return _v1.get_variable(name, shape, variable_dtype, initializer, trainable=False)

    def _update_overall_moments(self, values: tf.Tensor) -> Moments:
        """Returns the mean and sample variance of all values so far."""
        size = [self._num_features]
        count = self._create_variable("example_count", [], 0, tf.int64)
        count = count.assign_add(tf.size(values[..., 0], tf.int64))
        total = self._create_variable("overall_feature_sum", size)
        total = total.assign_add(tf.reduce_sum(values, [0, 1]))
        squares = self._create_variable("overall_feature_sum_of_squares", size)
        squares = squares.assign_add(tf.reduce_sum(values**2, [0, 1]))
        number = tf.cast(count, self._dtype)
        mean = total / number
        return Moments(mean, (squares / number - mean**2) * number / (number - 1))

    def _update_count(self, times: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
        """Estimates the number of times from the first and last time and their mean distance."""
        last = self._create_variable("max_time_seen", [], tf.int64.min, tf.int64)
        last = last.assign(tf.maximum(last, tf.reduce_max(times)))
        window_count = self._create_variable("chunk_count", [], 0, tf.int64)
        window_count = window_count.assign_add(tf.shape(times, tf.int64)[0])
        durations = tf.cast(times[:, -1] - times[:, 0], self._dtype)
        durations /= tf.cast(tf.shape(times)[1] - 1, self._dtype)
        total = self._create_variable("inter_observation_duration_sum", [])
        total = total.assign_add(tf.reduce_sum(durations))
        distance = total / tf.cast(window_count, self._dtype)
        return tf.cast(tf.round(tf.cast(last - start + 1, self._dtype) / distance), tf.int64)

    def _compute_start_moments(
        self, statistics: InputStatistics, times: tf.Tensor, values: tf.Tensor
    ) -> Moments:
        """Returns the moments of the first values of the earliest window so far."""
        window = tf.argmin(times[:, 0])
        is_first = times[window, 0] <= statistics.start_time
        mean, variance = tf.nn.moments(values[window, : self._start_size], [0])
        old = statistics.series_start_moments
        return Moments(
            tf.where(is_first, mean, tf.identity(old.mean)),
            tf.where(is_first, variance, tf.identity(old.variance)),
        )
