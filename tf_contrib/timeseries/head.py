"""Heads, which convert a time series model to an EstimatorSpec."""

from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib._types import Nest, Optimizer, TensorLike
from tf_contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionResults,
    TrainEvalFeatures,
)
from tf_contrib.timeseries.math_utils import (
    InputStatistics,
    InputStatisticsFromMiniBatch,
)
from tf_contrib.timeseries.model import ModelOutputs, TimeSeriesModel
from tf_contrib.timeseries.serving import (
    create_one_shot_outputs,
    create_serving_outputs,
)
from tf_contrib.timeseries.state_management import PassthroughStateManager

_v1 = tf.compat.v1


class TimeSeriesRegressionHead:
    """Head that trains, evaluates, predicts and serves a model.

    Args:
      model: Model.
      state_manager: Object that chooses the initial states of windows.
      optimizer: Optimizer of the loss.
      input_statistics_generator: Generator of the statistics that scale the values; None: no
        scaling.
      name: Name of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager,
        optimizer: Optimizer,
        input_statistics_generator: InputStatisticsFromMiniBatch | None = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self.name = name

    def create_estimator_spec(
        self, features: dict[str, TensorLike], mode: str, labels: object = None
    ) -> v1.EstimatorSpec:
        """Builds the EstimatorSpec of a mode.

        Args:
          features: Times and other features.
          mode: Mode key.
          labels: Must be None: values are features.

        Raises:
          ValueError: There are labels.
        """
        if labels:
            raise ValueError(f"labels must be None: pass values as features, got {labels}.")
        with tf.name_scope(self.name or "head"):
            statistics = self._create_statistics(features, mode)
            self.state_manager.initialize_graph(self.model, statistics)
            if mode == v1.ModeKeys.PREDICT:
                return self._create_prediction_spec(features)
            with _v1.variable_scope("model", use_resource=True):
                outputs = self.state_manager.define_loss(self.model, features, mode)
            if mode == v1.ModeKeys.EVAL:
                return _create_evaluation_spec(outputs)
            # The scope of the model would change the names of the slots.
            step = _v1.train.get_or_create_global_step()
            train_op = self.optimizer.minimize(outputs.loss, step)
            return v1.EstimatorSpec(mode, loss=outputs.loss, train_op=train_op)

    def _create_prediction_spec(self, features: dict[str, TensorLike]) -> v1.EstimatorSpec:
        """Builds the spec of predictions, or of an export if the features contain values."""
        mode = v1.ModeKeys.PREDICT
        with _v1.variable_scope("model", use_resource=True):
            if TrainEvalFeatures.VALUES in features:
                outputs = self._serving_outputs(features)
                return v1.EstimatorSpec(mode, predictions={}, export_outputs=outputs)
            predictions = self.model.predict(features)
        predictions[PredictionResults.TIMES] = tf.identity(features[PredictionResults.TIMES])
        return v1.EstimatorSpec(mode, predictions=predictions)

    def _serving_outputs(self, features: dict[str, TensorLike]) -> dict[str, Any]:
        return create_serving_outputs(self.model, features)

    def _create_statistics(
        self, features: dict[str, TensorLike], mode: str
    ) -> InputStatistics | None:
        if self.input_statistics_generator is None:
            return None
        is_training = mode == v1.ModeKeys.TRAIN
        return self.input_statistics_generator.initialize_graph(features, is_training)


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """Head that exports models without a state, which predict the times after the given values.

    The arguments are those of TimeSeriesRegressionHead.
    """

    def _serving_outputs(self, features: dict[str, TensorLike]) -> dict[str, Any]:
        return create_one_shot_outputs(self.model, features)


def _create_evaluation_spec(outputs: ModelOutputs) -> v1.EstimatorSpec:
    results = {
        **outputs.predictions,
        "average_loss": outputs.loss,
        FilteringResults.TIMES: outputs.prediction_times,
        FilteringResults.STATE_TUPLE: outputs.end_state,
    }
    return v1.EstimatorSpec(
        v1.ModeKeys.EVAL,
        loss=outputs.loss,
        eval_metric_ops={name: create_latest_metric(value) for name, value in results.items()},
        predictions={},
    )


def create_latest_metric(value: Nest) -> tuple[Any, Any]:
    """Returns a metric whose value is that of the last batch, a nest of tensors."""
    variables, updates = [], []
    for part in tf.nest.flatten(value):
        variable = _v1.Variable(
            tf.zeros([0] * part.shape.rank, part.dtype),
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.METRIC_VARIABLES],
            use_resource=True,
            shape=tf.TensorShape(None),
        )
        updates.append(variable.assign(part, read_value=False))
        variables.append(tf.ensure_shape(variable.read_value(), part.shape))
    return tf.nest.pack_sequence_as(value, variables), tf.group(*updates)
