"""From a model of time series to an EstimatorSpec."""

from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionResults,
    TrainEvalFeatures,
)
from estimator_train.legacy.contrib.timeseries.model import TimeSeriesModel
from estimator_train.legacy.contrib.timeseries.serving import one_shot_outputs, serving_outputs

_v1 = tf.compat.v1


class TimeSeriesRegressionHead:
    """Trains, evaluates, predicts and serves by a model.

    Args:
      model: The model.
      state_manager: Which states windows begin with.
      optimizer: Minimizes the loss.
      input_statistics_generator: Makes the statistics by which the model scales; None: it does not.
      name: Name of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self.name = name

    def create_estimator_spec(
        self, features: Any, mode: str, labels: Any = None
    ) -> v1.EstimatorSpec:
        """The model_fn.

        Args:
          features: Times and what goes with them.
          mode: A mode key.
          labels: None: values are among the features.

        Raises:
          ValueError: There are labels.
        """
        if labels:
            raise ValueError(f"Time series have no labels, given: {labels}.")
        with tf.name_scope(self.name or "head"):
            statistics = self._statistics(features, mode)
            self.state_manager.initialize_graph(self.model, statistics)
            if mode == v1.ModeKeys.PREDICT:
                return self._prediction(features)
            with _v1.variable_scope("model", use_resource=True):
                outputs = self.state_manager.define_loss(self.model, features, mode)
            if mode == v1.ModeKeys.EVAL:
                return _evaluation(outputs)
            # Outside of the model's scope, so that slots have the names of their variables.
            step = _v1.train.get_or_create_global_step()
            train_op = self.optimizer.minimize(outputs.loss, step)
            return v1.EstimatorSpec(mode, loss=outputs.loss, train_op=train_op)

    def _prediction(self, features: Any) -> v1.EstimatorSpec:
        """Predictions, or of features that bring values, what an export serves."""
        mode = v1.ModeKeys.PREDICT
        with _v1.variable_scope("model", use_resource=True):
            if TrainEvalFeatures.VALUES in features:
                outputs = self._serving_outputs(features)
                return v1.EstimatorSpec(mode, predictions={}, export_outputs=outputs)
            predictions = self.model.predict(features)
        predictions[PredictionResults.TIMES] = tf.identity(features[PredictionResults.TIMES])
        return v1.EstimatorSpec(mode, predictions=predictions)

    def _serving_outputs(self, features: Any) -> dict[str, Any]:
        return serving_outputs(self.model, features)

    def _statistics(self, features: Any, mode: str) -> Any:
        if self.input_statistics_generator is None:
            return None
        is_training = mode == v1.ModeKeys.TRAIN
        return self.input_statistics_generator.initialize_graph(features, is_training)


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """Exports models without a state: the times that are more than the values are predicted.

    Arguments as for TimeSeriesRegressionHead.
    """

    def _serving_outputs(self, features: Any) -> dict[str, Any]:
        return one_shot_outputs(self.model, features)


def _evaluation(outputs: Any) -> v1.EstimatorSpec:
    results = {
        **outputs.predictions,
        "average_loss": outputs.loss,
        FilteringResults.TIMES: outputs.prediction_times,
        FilteringResults.STATE_TUPLE: outputs.end_state,
    }
    return v1.EstimatorSpec(
        v1.ModeKeys.EVAL,
        loss=outputs.loss,
        eval_metric_ops={name: latest(value) for name, value in results.items()},
        predictions={},
    )


def latest(value: Any) -> tuple[Any, Any]:
    """A metric that is the value of the last batch, of a tensor or tensors in tuples."""
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
