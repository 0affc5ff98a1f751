"""Estimators of time series."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.timeseries.ar_model import AnomalyMixtureARModel, ARModel
from estimator_train.legacy.contrib.timeseries.head import TimeSeriesRegressionHead
from estimator_train.legacy.contrib.timeseries.math_utils import InputStatisticsFromMiniBatch
from estimator_train.legacy.contrib.timeseries.model import TimeSeriesModel
from estimator_train.legacy.contrib.timeseries.networks import FlatPredictionModel
from estimator_train.legacy.contrib.timeseries.serving import receiver_fn
from estimator_train.legacy.contrib.timeseries.state_management import (
    ChainingStateManager,
    FilteringOnlyStateManager,
)
from estimator_train.legacy.contrib.timeseries.state_space.structural import StructuralEnsemble


class TimeSeriesRegressor(v1.Estimator):
    """An estimator that trains a time series model, and evaluates and predicts with it.

    Args:
      model: The model.
      state_manager: Which states windows begin with; by default the model's start state.
      optimizer: By default Adam with a learning rate of 0.02.
      model_dir: The directory.
      config: The configuration.
      head_type: Called with the model, the state manager, the optimizer and the generator of
        statistics, by their names; returns what makes EstimatorSpecs.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ) -> None:
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager or FilteringOnlyStateManager(),
            optimizer=optimizer or tf.compat.v1.train.AdamOptimizer(0.02),
            input_statistics_generator=InputStatisticsFromMiniBatch(
                num_features=model.num_features, dtype=model.dtype
            ),
        )
        super().__init__(head.create_estimator_spec, model_dir, config)

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """The input_receiver_fn for `export_savedmodel`.

        Args:
          default_batch_size: How many series a request has; any if None.
          default_series_length: How many times a request has; any if None.
        """
        return receiver_fn(self._model, default_batch_size, default_series_length)


class ARRegressor(TimeSeriesRegressor):
    """An estimator of an autoregressive model.

    The other arguments are those of ARModel and TimeSeriesRegressor.

    Args:
      hidden_layer_sizes: Sizes of layers with ReLU; by default the predictions are linear.
      anomaly_prior_probability: How probable an anomaly is; by default there are none.
      anomaly_distribution: As for AnomalyMixtureARModel; by default Gaussian.
      optimizer: By default Adagrad with a learning rate of 0.1.

    Raises:
      ValueError: Anomalies have a distribution and no probability, or a loss of squares.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        def network(**sizes: int) -> Any:
            return FlatPredictionModel(hidden_layer_sizes=hidden_layer_sizes, **sizes)

        about: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "prediction_model_factory": network,
            "num_time_buckets": num_time_buckets,
            "exogenous_feature_columns": exogenous_feature_columns,
        }
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError(
                    "anomaly_prior_probability is required if anomaly_distribution is specified."
                )
            model = ARModel(loss=loss, **about)
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    "AnomalyMixtureARModel only supports "
                    "ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument."
                )
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY,
                **about,
            )
        optimizer = optimizer or tf.compat.v1.train.AdagradOptimizer(0.1)
        super().__init__(model, FilteringOnlyStateManager(), optimizer, model_dir, config)


class StructuralEnsembleRegressor(TimeSeriesRegressor):
    """An estimator of a series as the sum of a level with a trend, cycles and moving averages.

    The other arguments are those of StructuralEnsemble and TimeSeriesRegressor.

    Args:
      periodicities: The length of a cycle, in the units of times, or a list of several.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: int = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Any = None,
        dtype: tf.DType = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ) -> None:
        orders = (cycle_num_latent_values, moving_average_order, autoregressive_order)
        exogenous = (exogenous_feature_columns, exogenous_update_condition)
        periods = tf.nest.flatten(periodicities)
        model = StructuralEnsemble(
            periods, *orders, num_features, *exogenous, dtype, anomaly_prior_probability
        )
        super().__init__(model, ChainingStateManager(), optimizer, model_dir, config, head_type)
