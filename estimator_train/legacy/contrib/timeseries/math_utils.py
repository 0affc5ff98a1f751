"""Statistics of a series, by which models scale it."""

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.feature_keys import TrainEvalFeatures

_v1 = tf.compat.v1


class Moments(NamedTuple):
    """The mean and variance of each value of a series."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """Statistics of a series.

    Attributes:
      series_start_moments: Moments of the values at the beginning.
      overall_feature_moments: Moments of all values.
      start_time: The first time.
      total_observation_count: How many times there are, as far as is known.
    """

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class InputStatisticsFromMiniBatch:
    """Gathers statistics of a series from the windows that a model is trained on.

    Args:
      num_features: How many values the series has at each time.
      dtype: The dtype of values.
      starting_variance_window_size: How many times the beginning has.
    """

    def __init__(
        self, num_features: int, dtype: tf.DType, starting_variance_window_size: int = 16
    ) -> None:
        self._num_features = num_features
        self._dtype = dtype
        self._start_size = starting_variance_window_size

    def initialize_graph(self, features: Any, update_statistics: bool = True) -> InputStatistics:
        """The statistics, with those of these windows.

        Args:
          features: Times and values of windows.
          update_statistics: Whether these windows are added; else statistics are as they were.
        """
        size = [self._num_features]
        with _v1.variable_scope("input_statistics", use_resource=True):
            kept = InputStatistics(
                Moments(
                    self._variable("series_start_mean", size),
                    self._variable("series_start_variance", size, 1.0),
                ),
                Moments(
                    self._variable("overall_feature_mean", size),
                    self._variable("overall_feature_var", size, 1.0),
                ),
                self._variable("start_time", [], tf.int64.max, tf.int64),
                self._variable("total_observation_count", [], 1, tf.int64),
            )
        if not update_statistics:
            return kept
        times = tf.convert_to_tensor(features[TrainEvalFeatures.TIMES], tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], self._dtype)
        with _v1.variable_scope("input_statistics_auxiliary", use_resource=True):
            overall = self._overall_moments(values)
            count = self._count(times, tf.minimum(kept.start_time, tf.reduce_min(times)))
        found = InputStatistics(
            self._start_moments(kept, times, values),
            overall,
            tf.minimum(kept.start_time, tf.reduce_min(times)),
            count,
        )
        # Assigned when all are computed: the moments of the start depend on the time before.
        with tf.control_dependencies(tf.nest.flatten(found)):
            pairs = zip(tf.nest.flatten(kept), tf.nest.flatten(found), strict=True)
            assigned = [variable.assign(value, read_value=False) for variable, value in pairs]
        with tf.control_dependencies(assigned):
            return tf.nest.map_structure(tf.identity, found)

    def _variable(
        self, name: str, shape: list[int], value: float = 0, dtype: tf.DType | None = None
    ) -> tf.Variable:
        initializer = _v1.constant_initializer(value)
        kind = dtype or self._dtype
        return _v1.get_variable(name, shape, kind, initializer, trainable=False)

    def _overall_moments(self, values: Any) -> Moments:
        """The mean and sample variance of all values so far."""
        size = [self._num_features]
        count = self._variable("example_count", [], 0, tf.int64)
        count = count.assign_add(tf.size(values[..., 0], tf.int64))
        total = self._variable("overall_feature_sum", size)
        total = total.assign_add(tf.reduce_sum(values, [0, 1]))
        squares = self._variable("overall_feature_sum_of_squares", size)
        squares = squares.assign_add(tf.reduce_sum(values**2, [0, 1]))
        number = tf.cast(count, self._dtype)
        mean = total / number
        return Moments(mean, (squares / number - mean**2) * number / (number - 1))

    def _count(self, times: Any, start: Any) -> Any:
        """How many times there are from the first to the last, by their mean distance."""
        last = self._variable("max_time_seen", [], tf.int64.min, tf.int64)
        last = last.assign(tf.maximum(last, tf.reduce_max(times)))
        chunks = self._variable("chunk_count", [], 0, tf.int64)
        chunks = chunks.assign_add(tf.shape(times, tf.int64)[0])
        durations = tf.cast(times[:, -1] - times[:, 0], self._dtype)
        durations /= tf.cast(tf.shape(times)[1] - 1, self._dtype)
        total = self._variable("inter_observation_duration_sum", [])
        total = total.assign_add(tf.reduce_sum(durations))
        distance = total / tf.cast(chunks, self._dtype)
        return tf.cast(tf.round(tf.cast(last - start + 1, self._dtype) / distance), tf.int64)

    def _start_moments(self, kept: InputStatistics, times: Any, values: Any) -> Moments:
        """The moments of the first values of the window that begins first of all so far."""
        window = tf.argmin(times[:, 0])
        is_first = times[window, 0] <= kept.start_time
        mean, variance = tf.nn.moments(values[window, : self._start_size], [0])
        old = kept.series_start_moments
        return Moments(
            tf.where(is_first, mean, tf.identity(old.mean)),
            tf.where(is_first, variance, tf.identity(old.variance)),
        )
