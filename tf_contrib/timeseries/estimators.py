"""Estimators of time series."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Optimizer
from tf_contrib.timeseries.ar_model import AnomalyMixtureARModel, ARModel
from tf_contrib.timeseries.head import TimeSeriesRegressionHead
from tf_contrib.timeseries.math_utils import InputStatisticsFromMiniBatch
from tf_contrib.timeseries.model import TimeSeriesModel
from tf_contrib.timeseries.networks import FlatPredictionModel
from tf_contrib.timeseries.serving import create_receiver_fn
from tf_contrib.timeseries.state_management import (
    ChainingStateManager,
    FilteringOnlyStateManager,
    PassthroughStateManager,
)
from tf_contrib.timeseries.state_space.structural import StructuralEnsemble


class TimeSeriesRegressor(v1.Estimator):
    """Estimator that trains and evaluates a time series model and predicts with it.

    Args:
      model: Model.
      state_manager: Object that chooses the initial states of windows; by default the start state
        of the model.
      optimizer: Optimizer; by default Adam with a learning rate of 0.02.
      model_dir: Directory of the model.
      config: Settings of the run.
      head_type: Function of the keywords `model`, `state_manager`, `optimizer` and
        `input_statistics_generator` that returns a head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: v1.RunConfig | None = None,
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
        """Returns the input_receiver_fn for `export_savedmodel`.

        Args:
          default_batch_size: Number of series in a request; None: any number.
          default_series_length: Number of times in a request; None: any number.
        """
        return create_receiver_fn(self._model, default_batch_size, default_series_length)


class ARRegressor(TimeSeriesRegressor):
    """Estimator of an autoregressive model.

    The arguments that are not listed are those of ARModel and TimeSeriesRegressor.

    Args:
      hidden_layer_sizes: Sizes of ReLU layers; by default the predictions are linear.
      anomaly_prior_probability: Probability of an anomaly; by default there are no anomalies.
      anomaly_distribution: See AnomalyMixtureARModel; Gaussian by default.
      optimizer: Optimizer; by default Adagrad with a learning rate of 0.1.

    Raises:
      ValueError: anomaly_distribution is given without a probability, or anomalies are combined
        with SQUARED_LOSS.
    """

    def __init__(
        self,
        periodicities: int | Sequence[int],
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: v1.RunConfig | None = None,
    ) -> None:
        def create_network(**sizes: int) -> FlatPredictionModel:
            return FlatPredictionModel(hidden_layer_sizes=hidden_layer_sizes, **sizes)

        model_arguments: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "prediction_model_factory": create_network,
            "num_time_buckets": num_time_buckets,
            "exogenous_feature_columns": exogenous_feature_columns,
        }
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError(
                    "anomaly_prior_probability is required if anomaly_distribution is specified."
                )
            model = ARModel(loss=loss, **model_arguments)
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    "AnomalyMixtureARModel only supports "
                    "ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument."
                )
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY,
                **model_arguments,
            )
        optimizer = optimizer or tf.compat.v1.train.AdagradOptimizer(0.1)
        super().__init__(model, FilteringOnlyStateManager(), optimizer, model_dir, config)


class StructuralEnsembleRegressor(TimeSeriesRegressor):
    """Estimator of a series as the sum of a level with a trend, cycles and moving averages.

    The arguments that are not listed are those of StructuralEnsemble and TimeSeriesRegressor.

    Args:
      periodicities: Length of a cycle in units of the times, or a list of lengths.
    """

    def __init__(
        self,
        periodicities: int | Sequence[int],
        num_features: int,
        cycle_num_latent_values: int = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., tf.Tensor] | None = None,
        dtype: tf.DType = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: v1.RunConfig | None = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ) -> None:
        orders = (cycle_num_latent_values, moving_average_order, autoregressive_order)
        exogenous = (exogenous_feature_columns, exogenous_update_condition)
        periods = tf.nest.flatten(periodicities)
        model = StructuralEnsemble(
            periods, *orders, num_features, *exogenous, dtype, anomaly_prior_probability
        )
        super().__init__(model, ChainingStateManager(), optimizer, model_dir, config, head_type)
