"""Autoregressive models: from a window of values to those of the window that follows."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import ModeKeys
from estimator_train.legacy.contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
)
from estimator_train.legacy.contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from estimator_train.legacy.contrib.timeseries.networks import FlatPredictionModel
from estimator_train.legacy.contrib.timeseries.stepping import over_steps

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_SCOPE = "model/"


class ARModel(TimeSeriesModel):
    """Predicts a window of values from the window before it and the times.

    Args:
      periodicities: Lengths of cycles, in the units of times; one or several.
      input_window_size: How many times are looked at; with 0, only times are.
      output_window_size: How many times are predicted together.
      num_features: How many values the series has at each time.
      prediction_model_factory: Called with num_features, input_window_size and output_window_size;
        returns a Keras model from the features of both windows to a dict with "mean", and with
        "covariance" unless the loss is SQUARED_LOSS.
      num_time_buckets: How many features tell where in a cycle a time is.
      loss: NORMAL_LIKELIHOOD_LOSS or SQUARED_LOSS.
      exogenous_feature_columns: As for TimeSeriesModel.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
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
        self._make_network = prediction_model_factory
        self._buckets = num_time_buckets
        several = isinstance(periodicities, (list, tuple))
        self._periods = list(periodicities) if several else [periodicities]

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """See the base class."""
        super().initialize_graph(input_statistics)
        self._network = self._make_network(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> Any:
        """The times, values and exogenous features of an input window."""
        size = self.input_window_size
        return (
            tf.zeros([size], tf.int64),
            tf.zeros([size, self.num_features], self.dtype),
            tf.zeros([size, *self._get_exogenous_embedding_shape()], self.dtype),
        )

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """See the base class."""
        del state
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        exogenous = self._process_exogenous_features(times, features)
        if mode == ModeKeys.TRAIN:
            return self._training(times, values, exogenous)
        return self._evaluation(times, values, exogenous)

    def _places(self, times: Any) -> Any:
        """Where in their cycles times are: [number of windows, window, cycles * buckets]."""
        found = [tf.zeros(tf.concat([tf.shape(times), [0]], 0), self.dtype)]
        for period in self._periods:
            place = tf.cast(times % int(period), self.dtype) * (self._buckets / int(period))
            bucket = tf.one_hot(tf.cast(place, tf.int32), self._buckets, dtype=self.dtype)
            found.append(bucket * (place % 1)[..., None])
        return tf.concat(found, -1)

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """See the base class."""
        size = self.output_window_size
        times = tf.convert_to_tensor(features[PredictionFeatures.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, features)
        length = tf.shape(times)[1]
        count = (length + size - 1) // size
        added = count * size - length
        times = tf.pad(times, [[0, 0], [0, added]])
        exogenous = tf.pad(exogenous, [[0, 0], [0, added], [0, 0]])

        def step(index: Any, state: Any) -> tuple[Any, list[Any]]:
            here = index * size + tf.range(size)
            coming = (tf.gather(times, here, axis=1), tf.gather(exogenous, here, axis=1))
            all_times, all_exogenous = (
                tf.concat([old, new], 1) for old, new in zip(state[::2], coming, strict=True)
            )
            found = self._predicted(all_times, state[1], all_exogenous)
            values = tf.concat([state[1], found["mean"]], 1)
            scaled_back = self._scaled_back(self._with_covariance(found))
            after = self._last(all_times, values, all_exogenous)
            return after, [scaled_back["mean"], scaled_back["covariance"]]

        state = features[PredictionFeatures.STATE_TUPLE]
        _, outputs = over_steps(step, state, self.get_start_state(), count)
        mean, covariance = (_windows_joined(output)[:, :length] for output in outputs)
        return {"mean": mean, "covariance": covariance}

    def _with_covariance(self, found: dict[str, Any]) -> dict[str, Any]:
        """Predictions with the covariance that a model of squares is taken to have."""
        if self.loss == self.SQUARED_LOSS:
            return {**found, "covariance": tf.ones_like(found["mean"])}
        return found

    def _last(self, *parts: Any) -> tuple[Any, ...]:
        """The last input window of times, values and exogenous features."""
        size = self.input_window_size

        def end(part: Any) -> Any:
            return tf.ensure_shape(
                part[:, tf.shape(part)[1] - size :], [None, size, *part.shape.as_list()[2:]]
            )

        return tuple(map(end, parts))

    def _predicted(self, times: Any, values: Any, exogenous: Any) -> dict[str, Any]:
        """What the network makes of an input window, and of the times of both windows."""
        size = self.input_window_size
        places = self._places(times)
        known = [places[:, :size], values, exogenous[:, :size]]
        coming = [places[:, size:], exogenous[:, size:]]
        # Where the network makes its variables, whatever the scope is that it is called in.
        with tf.name_scope(_SCOPE):
            return self._network(tf.concat(known, 2), tf.concat(coming, 2))

    def _training(self, times: Any, values: Any, exogenous: Any) -> ModelOutputs:
        if not times.shape[1:].is_compatible_with([self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size="
                f"{self.output_window_size} expects feature 'times' to have shape (batch_size, "
                f"{self.window_size}) (for any batch_size), but got shape {times.shape}. If you "
                f"are using RandomWindowInputFn, set window_size={self.window_size} or adjust "
                "the input_window_size and output_window_size arguments to ARModel."
            )
        return self._outputs(times, values, exogenous, 1, on_values=False)

    def _evaluation(self, times: Any, values: Any, exogenous: Any) -> ModelOutputs:
        """Windows that follow each other, each predicted from the values observed before it."""
        length = times.shape.as_list()[1]
        if length is not None and length < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to "
                f"evaluate on (input_window_size={self.input_window_size}, output_window_size="
                f"{self.output_window_size}, and got shape {times.shape} for feature 'times' "
                "(batch size, window size))."
            )
        count = (tf.shape(times)[1] - self.input_window_size) // self.output_window_size
        return self._outputs(times, values, exogenous, count, self.loss == self.SQUARED_LOSS)

    def _outputs(
        self, times: Any, values: Any, exogenous: Any, count: Any, on_values: bool
    ) -> ModelOutputs:
        """The predictions of the last `count` output windows of some windows.

        Args:
          times: [number of windows, window].
          values: [number of windows, window, values].
          exogenous: [number of windows, window, features].
          count: How many output windows there are.
          on_values: Whether the loss is that of values, and not of scaled ones.
        """
        size, first = self.output_window_size, self.input_window_size
        length = count * size
        begin = tf.shape(times)[1] - length - first
        chosen = begin + tf.range(count)[:, None] * size + tf.range(self.window_size)

        def windows(whole: Any) -> Any:
            found = tf.gather(whole, chosen, axis=1)
            shape = [self.window_size, *whole.shape.as_list()[2:]]
            return tf.reshape(found, [-1, *shape])

        scaled = self._scale_data(values)
        found = self._predicted(windows(times), windows(scaled)[:, :first], windows(exogenous))
        scaled_back = self._scaled_back(found)
        if on_values:
            loss = self._loss(windows(values)[:, first:], scaled_back)
        else:
            loss = self._loss(windows(scaled)[:, first:], found)
        shape = [tf.shape(times)[0], -1, self.num_features]
        outputs = {name: tf.reshape(value, shape) for name, value in scaled_back.items()}
        outputs["observed"] = values[:, begin + first :]
        end_state = self._last(times, scaled, exogenous)
        return ModelOutputs(loss, end_state, outputs, times[:, begin + first :])

    def _scaled_back(self, found: dict[str, Any]) -> dict[str, Any]:
        back = {"mean": self._scale_back_data, "covariance": self._scale_back_variance}
        return {name: back[name](value) for name, value in found.items() if name in back}

    def _loss(self, targets: Any, found: dict[str, Any]) -> Any:
        if self.loss == self.SQUARED_LOSS:
            return tf.reduce_mean(tf.math.squared_difference(targets, found["mean"]))
        return -tf.reduce_mean(self._log_likelihood(targets, found))

    def _log_likelihood(self, targets: Any, found: dict[str, Any]) -> Any:
        return log_normal(targets, found["mean"], found["covariance"])


class AnomalyMixtureARModel(ARModel):
    """An ARModel under which any value may be an anomaly, and so tells less about the model.

    The other arguments are those of ARModel.

    Args:
      anomaly_prior_probability: How probable an anomaly is.
      anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY; its width is trained.

    Raises:
      ValueError: The distribution or the probability is none.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
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
                f"anomaly_distribution must be 'gaussian' or 'cauchy', is {anomaly_distribution!r}."
            )
        if not 0 < anomaly_prior_probability < 1:
            raise ValueError(
                "anomaly_prior_probability must be between 0 and 1, is "
                f"{anomaly_prior_probability}."
            )
        sizes = (input_window_size, output_window_size, num_features)
        network = (prediction_model_factory, num_time_buckets, self.NORMAL_LIKELIHOOD_LOSS)
        super().__init__(periodicities, *sizes, *network, exogenous_feature_columns)
        self._prior = anomaly_prior_probability
        self._distribution = anomaly_distribution

    def _log_likelihood(self, targets: Any, found: dict[str, Any]) -> Any:
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=_v1.AUTO_REUSE):
            initializer = _v1.zeros_initializer()
            log_width = _v1.get_variable("anomaly_log_param", [], self.dtype, initializer)
        mean, width = found["mean"], tf.exp(log_width)
        if self._distribution == self.GAUSSIAN_ANOMALY:
            anomaly = log_normal(targets, mean, width)
        else:
            distance = (targets - mean) / width
            anomaly = -tf.math.log1p(distance**2) - log_width - math.log(math.pi)
        usual = super()._log_likelihood(targets, found) + math.log(1 - self._prior)
        return tf.reduce_logsumexp(tf.stack([usual, anomaly + math.log(self._prior)]), 0)


def log_normal(targets: Any, mean: Any, variance: Any) -> Any:
    """The log of a normal density, with a fourth of the log of the variance for the half of it.

    So was the likelihood of tf.contrib's ARModel, and losses and learnt covariances depend on it.
    """
    squares = tf.math.squared_difference(targets, mean) / variance
    return -0.5 * (squares + math.log(2 * math.pi) + 0.5 * tf.math.log(variance))


def _windows_joined(stacked: Any) -> Any:
    """From [step, series, window, values] to [series, all times, values]."""
    first = tf.transpose(stacked, [1, 0, 2, 3])
    return tf.reshape(first, [tf.shape(first)[0], -1, stacked.shape[-1]])
