"""Autoregressive models, which predict a window of values from the window before it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import ModeKeys
from tf_contrib._types import Nest
from tf_contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
)
from tf_contrib.timeseries.math_utils import InputStatistics
from tf_contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from tf_contrib.timeseries.networks import FlatPredictionModel
from tf_contrib.timeseries.stepping import run_steps

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_SCOPE = "model/"


class ARModel(TimeSeriesModel):
    """Model that predicts a window of values from the previous window and the times.

    Args:
      periodicities: Length of a cycle in units of the times, or a list of lengths.
      input_window_size: Number of times in the input window; 0: only times are used.
      output_window_size: Number of times in the predicted window.
      num_features: Number of values at each time.
      prediction_model_factory: Function of num_features, input_window_size and output_window_size
        that returns a Keras model. The model converts the features of both windows to a dict with
        "mean", and with "covariance" unless the loss is SQUARED_LOSS.
      num_time_buckets: Number of features that encode the position in a cycle.
      loss: NORMAL_LIKELIHOOD_LOSS or SQUARED_LOSS.
      exogenous_feature_columns: See TimeSeriesModel.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: int | Sequence[int],
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns)
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        self._network_factory = prediction_model_factory
        self._num_time_buckets = num_time_buckets
        self._periods: list[Any] = tf.nest.flatten(periodicities)

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """See the base class."""
        super().initialize_graph(input_statistics)
        self._network = self._network_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> Nest:
        """Returns the times, values and exogenous features of an input window of zeros."""
        size = self.input_window_size
        return (
            tf.zeros([size], tf.int64),
            tf.zeros([size, self.num_features], self.dtype),
            tf.zeros([size, *self._get_exogenous_embedding_shape()], self.dtype),
        )

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Nest) -> ModelOutputs:
        """See the base class."""
        del state
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        exogenous = self._process_exogenous_features(times, features)
        if mode == ModeKeys.TRAIN:
            return self._compute_training(times, values, exogenous)
        return self._compute_evaluation(times, values, exogenous)

    def _encode_positions(self, times: tf.Tensor) -> tf.Tensor:
        """Encodes the positions of times in cycles, [num_windows, window, cycles * buckets]."""
        encodings = [tf.zeros(tf.concat([tf.shape(times), [0]], 0), self.dtype)]
        for period in self._periods:
            position = tf.cast(times % int(period), self.dtype) * (
                self._num_time_buckets / int(period)
            )
            bucket = tf.one_hot(
                tf.cast(position, tf.int32), self._num_time_buckets, dtype=self.dtype
            )
            encodings.append(bucket * (position % 1)[..., None])
        return tf.concat(encodings, -1)

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """See the base class."""
        size = self.output_window_size
        times = tf.convert_to_tensor(features[PredictionFeatures.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, features)
        length = tf.shape(times)[1]
        count = (length + size - 1) // size
        padding = count * size - length
        times = tf.pad(times, [[0, 0], [0, padding]])
        exogenous = tf.pad(exogenous, [[0, 0], [0, padding], [0, 0]])

        def step(index: tf.Tensor, state: Nest) -> tuple[Any, list[Any]]:
            positions = index * size + tf.range(size)
            output_parts = (
                tf.gather(times, positions, axis=1),
                tf.gather(exogenous, positions, axis=1),
            )
            all_times, all_exogenous = (
                tf.concat([old, new], 1) for old, new in zip(state[::2], output_parts, strict=True)
            )
            prediction = self._predict_window(all_times, state[1], all_exogenous)
            values = tf.concat([state[1], prediction["mean"]], 1)
            unscaled = self._scale_back(self._add_covariance(prediction))
            next_state = self._take_last_window(all_times, values, all_exogenous)
            return next_state, [unscaled["mean"], unscaled["covariance"]]

        state = features[PredictionFeatures.STATE_TUPLE]
        _, outputs = run_steps(step, state, self.get_start_state(), count)
        mean, covariance = (_join_windows(output)[:, :length] for output in outputs)
        return {"mean": mean, "covariance": covariance}

    def _add_covariance(self, prediction: dict[str, Any]) -> dict[str, Any]:
        """Adds a covariance of 1 to predictions of a model with SQUARED_LOSS."""
        if self.loss == self.SQUARED_LOSS:
            return {**prediction, "covariance": tf.ones_like(prediction["mean"])}
        return prediction

    def _take_last_window(self, *parts: Any) -> tuple[Any, ...]:
        """Returns the last input window of times, values and exogenous features."""
        size = self.input_window_size

        def end(part: tf.Tensor) -> tf.Tensor:
            return tf.ensure_shape(
                part[:, tf.shape(part)[1] - size :], [None, size, *part.shape.as_list()[2:]]
            )

        return tuple(map(end, parts))

    def _predict_window(
        self, times: tf.Tensor, values: tf.Tensor, exogenous: tf.Tensor
    ) -> dict[str, Any]:
        """Runs the network on an input window and on the times of both windows."""
        size = self.input_window_size
        positions = self._encode_positions(times)
        input_parts = [positions[:, :size], values, exogenous[:, :size]]
        output_parts = [positions[:, size:], exogenous[:, size:]]
        # The variables have the same names whatever the scope of the call.
        with tf.name_scope(_SCOPE):
            return self._network(tf.concat(input_parts, 2), tf.concat(output_parts, 2))

    def _compute_training(
        self, times: tf.Tensor, values: tf.Tensor, exogenous: tf.Tensor
    ) -> ModelOutputs:
        if not times.shape[1:].is_compatible_with([self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size="
                f"{self.output_window_size} expects feature 'times' to have shape (batch_size, "
                f"{self.window_size}) (for any batch_size), but got shape {times.shape}. If you "
                f"are using RandomWindowInputFn, set window_size={self.window_size} or adjust "
                "the input_window_size and output_window_size arguments to ARModel."
            )
        return self._compute_outputs(times, values, exogenous, 1, on_values=False)

    def _compute_evaluation(
        self, times: tf.Tensor, values: tf.Tensor, exogenous: tf.Tensor
    ) -> ModelOutputs:
        """Predicts consecutive windows, each from the observed values before it."""
        length = times.shape.as_list()[1]
        if length is not None and length < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to "
                f"evaluate on (input_window_size={self.input_window_size}, output_window_size="
                f"{self.output_window_size}, and got shape {times.shape} for feature 'times' "
                "(batch size, window size))."
            )
        count = (tf.shape(times)[1] - self.input_window_size) // self.output_window_size
        return self._compute_outputs(
            times, values, exogenous, count, self.loss == self.SQUARED_LOSS
        )

    def _compute_outputs(
        self,
        times: tf.Tensor,
        values: tf.Tensor,
        exogenous: tf.Tensor,
        count: int | tf.Tensor,
        on_values: bool,
    ) -> ModelOutputs:
        """Predicts the last `count` output windows of some windows.

        Args:
          times: [num_windows, window].
          values: [num_windows, window, values].
          exogenous: [num_windows, window, features].
          count: Number of output windows.
          on_values: Whether the loss is computed from unscaled values.
        """
        size, first = self.output_window_size, self.input_window_size
        length = count * size
        start = tf.shape(times)[1] - length - first
        indices = start + tf.range(count)[:, None] * size + tf.range(self.window_size)

        def cut_windows(series: tf.Tensor) -> tf.Tensor:
            prediction = tf.gather(series, indices, axis=1)
            shape = [self.window_size, *series.shape.as_list()[2:]]
            return tf.reshape(prediction, [-1, *shape])

        scaled = self._scale_data(values)
        prediction = self._predict_window(
            cut_windows(times), cut_windows(scaled)[:, :first], cut_windows(exogenous)
        )
        unscaled = self._scale_back(prediction)
        if on_values:
            loss = self._compute_loss(cut_windows(values)[:, first:], unscaled)
        else:
            loss = self._compute_loss(cut_windows(scaled)[:, first:], prediction)
        shape = [tf.shape(times)[0], -1, self.num_features]
        outputs = {name: tf.reshape(value, shape) for name, value in unscaled.items()}
        outputs["observed"] = values[:, start + first :]
        end_state = self._take_last_window(times, scaled, exogenous)
        return ModelOutputs(loss, end_state, outputs, times[:, start + first :])

    def _scale_back(self, prediction: dict[str, Any]) -> dict[str, Any]:
        inverse = {"mean": self._scale_back_data, "covariance": self._scale_back_variance}
        return {name: inverse[name](value) for name, value in prediction.items() if name in inverse}

    def _compute_loss(self, targets: tf.Tensor, prediction: dict[str, Any]) -> tf.Tensor:
        if self.loss == self.SQUARED_LOSS:
            return tf.reduce_mean(tf.math.squared_difference(targets, prediction["mean"]))
        return -tf.reduce_mean(self._log_likelihood(targets, prediction))

    def _log_likelihood(self, targets: tf.Tensor, prediction: dict[str, Any]) -> tf.Tensor:
        return log_density(targets, prediction["mean"], prediction["covariance"])


class AnomalyMixtureARModel(ARModel):
    """ARModel in which each value may be an anomaly, which has less influence on the model.

    The arguments that are not listed are those of ARModel.

    Args:
      anomaly_prior_probability: Probability of an anomaly.
      anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY, with a trained width.

    Raises:
      ValueError: The distribution is unknown, or the probability is not between 0 and 1.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: int | Sequence[int],
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise ValueError(
                "anomaly_distribution must be 'gaussian' or 'cauchy', got "
                f"{anomaly_distribution!r}."
            )
        if not 0 < anomaly_prior_probability < 1:
            raise ValueError(
                "anomaly_prior_probability must be between 0 and 1, got "
                f"{anomaly_prior_probability}."
            )
        sizes = (input_window_size, output_window_size, num_features)
        network = (prediction_model_factory, num_time_buckets, self.NORMAL_LIKELIHOOD_LOSS)
        super().__init__(periodicities, *sizes, *network, exogenous_feature_columns)
        self._anomaly_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution

    def _log_likelihood(self, targets: tf.Tensor, prediction: dict[str, Any]) -> tf.Tensor:
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=_v1.AUTO_REUSE):
            initializer = _v1.zeros_initializer()
            log_width = _v1.get_variable("anomaly_log_param", [], self.dtype, initializer)
        mean, width = prediction["mean"], tf.exp(log_width)
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            anomaly = log_density(targets, mean, width)
        else:
            distance = (targets - mean) / width
            anomaly = -tf.math.log1p(distance**2) - log_width - math.log(math.pi)
        usual = super()._log_likelihood(targets, prediction) + math.log(
            1 - self._anomaly_probability
        )
        return tf.reduce_logsumexp(
            tf.stack([usual, anomaly + math.log(self._anomaly_probability)]), 0
        )


def log_density(targets: tf.Tensor, mean: tf.Tensor, variance: tf.Tensor) -> tf.Tensor:
    """Returns the log density of a normal distribution, with a quarter of the log variance.

    The correct factor is one half. tf.contrib's ARModel used a quarter, and losses and trained
    covariances depend on it.
    """
    squares = tf.math.squared_difference(targets, mean) / variance
    return -0.5 * (squares + math.log(2 * math.pi) + 0.5 * tf.math.log(variance))


def _join_windows(stacked: tf.Tensor) -> tf.Tensor:
    """Reshapes [step, series, window, values] to [series, all times, values]."""
    first = tf.transpose(stacked, [1, 0, 2, 3])
    return tf.reshape(first, [tf.shape(first)[0], -1, stacked.shape[-1]])
