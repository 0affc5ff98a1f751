"""Bases of time series models: what they compute of windows, and one step after the other."""

import abc
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_train.legacy.contrib.timeseries.feature_keys import (
    PredictionFeatures,
    PredictionResults,
    TrainEvalFeatures,
)
from estimator_train.legacy.contrib.timeseries.math_utils import InputStatistics
from estimator_train.legacy.contrib.timeseries.stepping import over_steps

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = PredictionFeatures.STATE_TUPLE
_NOT_EXOGENOUS = (_TIMES, _VALUES, _STATE)


class ModelOutputs(NamedTuple):
    """What a model makes of a batch of windows.

    Attributes:
      loss: A scalar.
      end_state: The model's state after the windows, from which prediction continues.
      predictions: Names to tensors whose first two dimensions are window and time.
      prediction_times: The times of the predictions, [number of windows, time].
    """

    loss: Any
    end_state: Any
    predictions: dict[str, Any]
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """Base class of models.

    Args:
      num_features: How many values the series has at each time.
      exogenous_feature_columns: Feature columns of what is known, and not predicted.
      dtype: The dtype of values.
    """

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: tf.DType = tf.float32,
    ) -> None:
        self.num_features = num_features
        self.dtype = dtype
        self._exogenous_feature_columns = list(exogenous_feature_columns or ())
        self._input_statistics: InputStatistics | None = None

    @property
    def exogenous_feature_columns(self) -> list[Any]:
        """The columns that the model was given."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Begins a new graph.

        Args:
          input_statistics: Of the series; without them values are not scaled.
        """
        self._input_statistics = input_statistics

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before any observation: tensors in tuples, without a dimension of windows."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """What the model makes of windows.

        Args:
          features: Times [number of windows, window], values [number of windows, window, features]
            and exogenous features.
          mode: A mode key.
          state: The state before the windows.
        """

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions of times.

        Args:
          features: The times, the state before them and exogenous features.
        """

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """`get_batch_loss` from the start state."""
        state = self.batch_of_start_states(tf.shape(features[_TIMES])[0])
        return self.get_batch_loss(features, mode, state)

    def batch_of_start_states(self, size: Any) -> Any:
        """The start state, as often as there are windows."""

        def repeated(part: Any) -> tf.Tensor:
            part = tf.convert_to_tensor(part)
            many = tf.tile(part[None], tf.concat([[size], tf.ones_like(tf.shape(part))], 0))
            return tf.ensure_shape(many, [None, *part.shape.as_list()])

        return tf.nest.map_structure(repeated, self.get_start_state())

    def _get_exogenous_embedding_shape(self) -> list[int]:
        sizes = [column.variable_shape.num_elements() for column in self._exogenous_feature_columns]
        return [sum(sizes)]

    def _process_exogenous_features(self, times: Any, features: dict[str, Any]) -> Any:
        """The exogenous features of windows, [number of windows, window, size]."""
        size = self._get_exogenous_embedding_shape()
        shape = tf.concat([tf.shape(times), size], 0)
        if not self._exogenous_feature_columns:
            return tf.zeros(shape, self.dtype)
        rows = {
            name: _one_row_a_time(values)
            for name, values in features.items()
            if name not in _NOT_EXOGENOUS
        }
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(scope, reuse=_v1.AUTO_REUSE, custom_getter=_of_first_layer):
            layer = _v1.feature_column.input_layer(rows, self._exogenous_feature_columns)
        embedded = tf.reshape(tf.cast(layer, self.dtype), shape)
        return tf.ensure_shape(embedded, times.shape.concatenate(size))

    def _scale_data(self, data: Any) -> Any:
        """Values as deviations from the mean, in units of the standard deviation."""
        if self._input_statistics is None:
            return data
        moments = self._input_statistics.overall_feature_moments
        return (data - moments.mean) * tf.math.rsqrt(moments.variance)

    def _scale_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        if self._input_statistics is None:
            return data
        moments = self._input_statistics.overall_feature_moments
        return data * tf.sqrt(moments.variance) + moments.mean

    def _scale_back_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance


class SequentialTimeSeriesModel(TimeSeriesModel):
    """Base class of models that go through a window one time after the other.

    A subclass defines `get_start_state`, `_filtering_step`, `_prediction_step`,
    `_imputation_step` and `_exogenous_input_step`.

    Args:
      train_output_names: Names of what `_filtering_step` returns beside the loss.
      predict_output_names: Names of what `_prediction_step` returns.
      num_features: As for TimeSeriesModel.
      normalize_features: Whether whole windows are scaled before they are filtered.
      dtype: As for TimeSeriesModel.
      exogenous_feature_columns: As for TimeSeriesModel.
      exogenous_update_condition: From times [number of windows] and a dict of exogenous features
        at these times to booleans: where the exogenous input step takes place. By default always.
      static_unrolling_window_size_threshold: Unused: steps run in a loop.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: tf.DType = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Any = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        del static_unrolling_window_size_threshold
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names = [*train_output_names, "loss"]
        self._predict_output_names = list(predict_output_names)
        self._normalize_features = normalize_features
        self._exogenous_update_condition = exogenous_update_condition

    @abc.abstractmethod
    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: Any
    ) -> Any:
        """The state after an observation, and predictions with "loss" [number of windows]."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        """The state at the next time, and a dict of predictions."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state moved over times without observations."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """The state with the exogenous features of a time."""

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """See the base class."""
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        filtered = self._scale_data(values) if self._normalize_features else values
        end_state, outputs = self._over_times(features, state, filtered)
        loss = tf.reduce_mean(outputs.pop("loss")) + self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        outputs["observed"] = values
        return ModelOutputs(loss, end_state, outputs, times)

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """See the base class."""
        _, outputs = self._over_times(features, features[_STATE], None)
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """What is added to the loss of a batch: nothing, unless a subclass has something."""
        del times, values, mode
        return 0.0

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Predictions of scaled values as those of the series; subclasses know which they are."""
        raise NotImplementedError(
            f"{type(self).__name__} has normalize_features=True, and so must define "
            f"_scale_back_predictions, for {sorted(predictions)}."
        )

    def _over_times(self, features: Any, state: Any, values: Any) -> tuple[Any, dict[str, Any]]:
        """The state after all times of windows, and outputs [number of windows, window, ...]."""
        times = tf.convert_to_tensor(features[PredictionResults.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, features)
        names = self._predict_output_names if values is None else self._train_output_names

        def step(index: Any, state: Any) -> tuple[Any, list[Any]]:
            now = times[:, index]
            state = self._imputation_step(now, state)
            if self._exogenous_feature_columns:
                state = self._with_exogenous(index, now, exogenous[:, index], state, features)
            state, outputs = self._prediction_step(now, state)
            if values is not None:
                state, outputs = self._filtering_step(now, values[:, index], state, outputs)
            return state, [outputs[name] for name in names]

        end_state, outputs = over_steps(step, state, self.get_start_state(), tf.shape(times)[1])
        return end_state, dict(zip(names, map(_windows_first, outputs), strict=True))

    def _with_exogenous(
        self, index: Any, now: Any, exogenous: Any, state: Any, features: Any
    ) -> Any:
        updated = self._exogenous_input_step(now, exogenous, state)
        if self._exogenous_update_condition is None:
            return updated
        current = {
            name: tf.convert_to_tensor(value)[:, index]
            for name, value in features.items()
            if name not in _NOT_EXOGENOUS
        }
        chosen = self._exogenous_update_condition(now, current)

        def one(new: Any, old: Any) -> Any:
            return tf.where(tf.reshape(chosen, [-1] + [1] * (new.shape.rank - 1)), new, old)

        flat = map(one, tf.nest.flatten(updated), tf.nest.flatten(state))
        return tf.nest.pack_sequence_as(state, list(flat))


def _of_first_layer(getter: Any, name: str, *arguments: Any, **named: Any) -> Any:
    """The variable of the first input layer of a graph, for those that follow."""
    return getter(re.sub(r"input_layer_\d+/", "input_layer/", name), *arguments, **named)


def _one_row_a_time(values: Any) -> Any:
    """Values of windows, [number of windows, window, ...], as one row for each of their times."""
    return tf.reshape(values, tf.concat([[-1], tf.shape(values)[2:]], 0))


def _windows_first(stacked: Any) -> Any:
    """Swaps the first two dimensions."""
    return tf.transpose(stacked, [1, 0, *range(2, stacked.shape.rank)])
