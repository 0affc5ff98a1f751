"""Structural time series: a level with a trend, cycles and moving averages, filtered."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import ModeKeys
from tf_contrib import layers
from tf_contrib._types import Nest
from tf_contrib.timeseries.math_utils import InputStatistics
from tf_contrib.timeseries.model import SequentialTimeSeriesModel
from tf_contrib.timeseries.state_space import anomalies, covariances, filtering
from tf_contrib.timeseries.state_space.components import (
    Component,
    Cycle,
    LevelTrend,
    MovingAverages,
    Parts,
    combine,
    compute_scales,
)
from tf_contrib.timeseries.state_space.filtering import Estimate

_v1 = tf.compat.v1
_INITIAL_LOG_TRADEOFF = 5.0
# A fixed scope lets repeated calls share the variables.
_linear = functools.partial(layers.linear, scope="fully_connected")


class StructuralEnsemble(SequentialTimeSeriesModel):
    """Model of a series as the sum of a level with a trend, cycles, moving averages and noise.

    The state is the mean and covariance of a normal distribution, and its time.

    Args:
      periodicities: Lengths of cycles, in units of the times.
      cycle_num_latent_values: Number of values in each cycle; an odd number.
      moving_average_order: Number of earlier times whose noise affects a value.
      autoregressive_order: Number of earlier states that affect a value.
      num_features: Number of values at each time.
      exogenous_feature_columns: See TimeSeriesModel.
      exogenous_update_condition: See SequentialTimeSeriesModel.
      dtype: Type of the values.
      anomaly_prior_probability: Probability of an anomaly; None: there are no anomalies.

    Raises:
      ValueError: anomaly_prior_probability is not between 0 and 1.
    """

    _parts: Parts

    def __init__(
        self,
        periodicities: Sequence[Any],
        cycle_num_latent_values: int,
        moving_average_order: int,
        autoregressive_order: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., tf.Tensor] | None = None,
        dtype: tf.DType = tf.float64,
        anomaly_prior_probability: float | None = None,
    ) -> None:
        self._anomaly_probability = anomaly_prior_probability
        outputs = ["mean", "covariance", "log_likelihood"]
        if anomaly_prior_probability is not None:
            if not 0 < anomaly_prior_probability < 1:
                raise ValueError(
                    "anomaly_prior_probability must be between 0 and 1, got "
                    f"{anomaly_prior_probability}."
                )
            outputs.append("anomaly_score")
        super().__init__(
            train_output_names=outputs,
            predict_output_names=["mean", "covariance"],
            num_features=num_features,
            normalize_features=True,
            dtype=dtype,
            exogenous_feature_columns=exogenous_feature_columns,
            exogenous_update_condition=exogenous_update_condition,
        )
        orders = autoregressive_order, moving_average_order
        self._components: list[Component] = [
            LevelTrend("adder", num_features, dtype),
            MovingAverages("varma", num_features, dtype, *orders),
            *(
                Cycle(f"cycle{index}", num_features, dtype, period, cycle_num_latent_values)
                for index, period in enumerate(periodicities)
            ),
        ]

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """See the base class."""
        super().initialize_graph(input_statistics)
        with _v1.variable_scope(_v1.get_variable_scope(), use_resource=True):
            log_tradeoff = _v1.get_variable(
                "observation_transition_tradeoff_log_scale",
                [],
                self.dtype,
                _v1.constant_initializer(_INITIAL_LOG_TRADEOFF),
            )
            scales = compute_scales(input_statistics, log_tradeoff, self.num_features, self.dtype)
            self._parts = combine(
                [component.create_parts(scales) for component in self._components]
            )
            self._observation_noise = covariances.create_covariance(
                "observation_noise_covariance", scales.start_variances, log_tradeoff
            )
        transform = self._parts.noise_transform
        self._noise = tf.matmul(
            tf.matmul(transform, self._parts.noise), transform, transpose_b=True
        )

    def get_start_state(self) -> Nest:
        """See the base class."""
        size = self._parts.mean.shape.as_list()[0]
        statistics = self._input_statistics
        first = tf.zeros([], tf.int64) if statistics is None else statistics.start_time
        return self._parts.mean, tf.eye(size, dtype=self.dtype), tf.cast(first, tf.int64) - 1

    def _prediction_step(
        self, current_times: tf.Tensor, state: Nest
    ) -> tuple[Nest, dict[str, tf.Tensor]]:
        expected = filtering.predict_observation(
            Estimate(*state[:2]), self._parts.observation, self._observation_noise
        )
        return (*state[:2], current_times), expected._asdict()

    def _filtering_step(
        self,
        current_times: tf.Tensor,
        current_values: tf.Tensor,
        state: Nest,
        predictions: dict[str, tf.Tensor],
    ) -> tuple[Nest, dict[str, tf.Tensor]]:
        before = Estimate(*state[:2])
        expected = Estimate(predictions["mean"], predictions["covariance"])
        after = filtering.correct(
            before, expected, self._parts.observation, self._observation_noise, current_values
        )
        log_likelihood = filtering.log_likelihood(expected, current_values)
        outputs = {**predictions, "log_likelihood": log_likelihood, "loss": -log_likelihood}
        if self._anomaly_probability is not None:
            after, outputs["loss"], outputs["anomaly_score"] = anomalies.mix_anomaly(
                self._anomaly_probability, before, after, expected, current_values, log_likelihood
            )
        return (*after, current_times), outputs

    def _imputation_step(self, current_times: tf.Tensor, state: Nest) -> Nest:
        """Predicts the state of a time from an earlier state."""
        step = self._parts.transition, self._noise
        gaps = current_times - state[2] - 1
        previous = filtering.predict_steps(Estimate(*state[:2]), *step, gaps)
        return (*filtering.predict(previous, *step), current_times)

    def _exogenous_input_step(
        self, current_times: tf.Tensor, current_exogenous_regressors: tf.Tensor, state: Nest
    ) -> Nest:
        """Adds linear functions of the features to the mean and the covariance."""
        size = self._parts.mean.shape.as_list()[0]
        with _v1.variable_scope("state_update_step", reuse=_v1.AUTO_REUSE):
            with _v1.variable_scope("exogenous_noise_increasing_covariance"):
                noise_outputs = _linear(current_exogenous_regressors, size * size + 2)
            with _v1.variable_scope("exogenous_noise_increasing_mean"):
                mean = _linear(current_exogenous_regressors, size)
        parameters = tf.reshape(noise_outputs[:, :-2], [-1, size, size])
        covariance = covariances.transform_to_covariance(
            parameters, noise_outputs[:, -2], noise_outputs[:, -1]
        )
        return state[0] + mean, state[1] + covariance, current_times

    def _loss_additions(self, times: tf.Tensor, values: tf.Tensor, mode: str) -> float | tf.Tensor:
        """Returns the negative log prior of the covariances for one observation, in training."""
        del times, values
        if mode != ModeKeys.TRAIN:
            return 0.0
        prior = self._parts.log_prior + covariances.compute_log_prior(self._observation_noise)
        if self._input_statistics is None:
            return -prior
        return -prior / tf.cast(self._input_statistics.total_observation_count, self.dtype)

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        if self._input_statistics is None:
            return predictions
        deviations = tf.sqrt(self._input_statistics.overall_feature_moments.variance)
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] *= deviations[:, None] * deviations
        return predictions
