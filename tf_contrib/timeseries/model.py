"""Base classes of time series models."""

import abc
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from tf_contrib._types import Nest, TensorLike
from tf_contrib.timeseries.feature_keys import (
    PredictionFeatures,
    PredictionResults,
    TrainEvalFeatures,
)
from tf_contrib.timeseries.math_utils import InputStatistics
from tf_contrib.timeseries.stepping import run_steps

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = PredictionFeatures.STATE_TUPLE
_NOT_EXOGENOUS = (_TIMES, _VALUES, _STATE)


class ModelOutputs(NamedTuple):
    """Outputs of a model for a batch of windows.

    Attributes:
      loss: Scalar loss.
      end_state: State after the windows, from which prediction continues.
      predictions: Tensors [num_windows, window, ...] by name.
      prediction_times: Times of the predictions, [num_windows, window].
    """

    loss: Any
    end_state: Any
    predictions: dict[str, Any]
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """Base class of models.

    Args:
      num_features: Number of values at each time.
      exogenous_feature_columns: Feature columns of known features that are not predicted.
      dtype: Type of the values.
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
        """Feature columns of exogenous features."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Starts a new graph.

        Args:
          input_statistics: Statistics of the series; without them values are not scaled.
        """
        self._input_statistics = input_statistics

    @abc.abstractmethod
    def get_start_state(self) -> Nest:
        """Returns the state before any observation: a nest of tensors without a window axis."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Nest) -> ModelOutputs:
        """Computes the loss and the predictions of windows.

        Args:
          features: Times [num_windows, window], values [num_windows, window, features] and
            exogenous features.
          mode: Mode key.
          state: State before the windows.
        """

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predicts the values of some times.

        Args:
          features: Times, the state before them and exogenous features.
        """

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Calls `get_batch_loss` with the start state."""
        state = self.batch_of_start_states(tf.shape(features[_TIMES])[0])
        return self.get_batch_loss(features, mode, state)

    def batch_of_start_states(self, size: int | tf.Tensor) -> Nest:
        """Repeats the start state for each window."""

        def repeat(part: TensorLike) -> tf.Tensor:
            part = tf.convert_to_tensor(part)
            tiled = tf.tile(part[None], tf.concat([[size], tf.ones_like(tf.shape(part))], 0))
            return tf.ensure_shape(tiled, [None, *part.shape.as_list()])

        return tf.nest.map_structure(repeat, self.get_start_state())

    def _get_exogenous_embedding_shape(self) -> list[int]:
        sizes = [column.variable_shape.num_elements() for column in self._exogenous_feature_columns]
        return [sum(sizes)]

    def _process_exogenous_features(self, times: tf.Tensor, features: dict[str, Any]) -> tf.Tensor:
        """Returns the exogenous features of windows, [num_windows, window, size]."""
        size = self._get_exogenous_embedding_shape()
        shape = tf.concat([tf.shape(times), size], 0)
        if not self._exogenous_feature_columns:
            return tf.zeros(shape, self.dtype)
        features_by_row = {
            name: _flatten_windows(values)
            for name, values in features.items()
            if name not in _NOT_EXOGENOUS
        }
        scope = _v1.get_variable_scope()
        with _v1.variable_scope(
            scope, reuse=_v1.AUTO_REUSE, custom_getter=_reuse_first_input_layer
        ):
            layer = _v1.feature_column.input_layer(features_by_row, self._exogenous_feature_columns)
        embedded = tf.reshape(tf.cast(layer, self.dtype), shape)
        return tf.ensure_shape(embedded, times.shape.concatenate(size))

    def _scale_data(self, data: tf.Tensor) -> tf.Tensor:
        """Returns the deviations of values from the mean in standard deviations."""
        if self._input_statistics is None:
            return data
        moments = self._input_statistics.overall_feature_moments
        return (data - moments.mean) * tf.math.rsqrt(moments.variance)

    def _scale_variance(self, variance: tf.Tensor) -> tf.Tensor:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: tf.Tensor) -> tf.Tensor:
        if self._input_statistics is None:
            return data
        moments = self._input_statistics.overall_feature_moments
        return data * tf.sqrt(moments.variance) + moments.mean

    def _scale_back_variance(self, variance: tf.Tensor) -> tf.Tensor:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance


class SequentialTimeSeriesModel(TimeSeriesModel):
    """Base class of models that process a window one time after another.

    A subclass defines `get_start_state`, `_filtering_step`, `_prediction_step`, `_imputation_step`
    and `_exogenous_input_step`.

    Args:
      train_output_names: Names of the outputs of `_filtering_step`, without the loss.
      predict_output_names: Names of the outputs of `_prediction_step`.
      num_features: See TimeSeriesModel.
      normalize_features: Whether to scale windows before filtering.
      dtype: See TimeSeriesModel.
      exogenous_feature_columns: See TimeSeriesModel.
      exogenous_update_condition: Function of times [num_windows] and a dict of exogenous features
        at these times that returns where to run the exogenous input step; by default everywhere.
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
        exogenous_update_condition: Callable[..., tf.Tensor] | None = None,
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
        self,
        current_times: tf.Tensor,
        current_values: tf.Tensor,
        state: Nest,
        predictions: dict[str, tf.Tensor],
    ) -> tuple[Nest, dict[str, tf.Tensor]]:
        """Returns the state after an observation, and predictions with "loss" [num_windows]."""

    @abc.abstractmethod
    def _prediction_step(
        self, current_times: tf.Tensor, state: Nest
    ) -> tuple[Nest, dict[str, tf.Tensor]]:
        """Returns the state at the next time, and a dict of predictions."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: tf.Tensor, state: Nest) -> Nest:
        """Returns the state after times without observations."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: tf.Tensor, current_exogenous_regressors: tf.Tensor, state: Nest
    ) -> Nest:
        """Returns the state after the exogenous features of a time."""

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Nest) -> ModelOutputs:
        """See the base class."""
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        scaled = self._scale_data(values) if self._normalize_features else values
        end_state, outputs = self._run_over_times(features, state, scaled)
        loss = tf.reduce_mean(outputs.pop("loss")) + self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        outputs["observed"] = values
        return ModelOutputs(loss, end_state, outputs, times)

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """See the base class."""
        _, outputs = self._run_over_times(features, features[_STATE], None)
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _loss_additions(self, times: tf.Tensor, values: tf.Tensor, mode: str) -> float | tf.Tensor:
        """Returns a term to add to the loss of a batch; subclasses override it."""
        del times, values, mode
        return 0.0

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Converts predictions of scaled values to the scale of the series."""
        raise NotImplementedError(
            f"{type(self).__name__} has normalize_features=True: define "
            f"_scale_back_predictions for {sorted(predictions)}."
        )

    def _run_over_times(
        self, features: dict[str, TensorLike], state: Nest, values: tf.Tensor | None
    ) -> tuple[Any, dict[str, Any]]:
        """Returns the state after windows, and outputs [num_windows, window, ...]."""
        times = tf.convert_to_tensor(features[PredictionResults.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, features)
        names = self._predict_output_names if values is None else self._train_output_names

        def step(index: tf.Tensor, state: Nest) -> tuple[Any, list[Any]]:
            now = times[:, index]
            state = self._imputation_step(now, state)
            if self._exogenous_feature_columns:
                state = self._apply_exogenous_step(index, now, exogenous[:, index], state, features)
            state, outputs = self._prediction_step(now, state)
            if values is not None:
                state, outputs = self._filtering_step(now, values[:, index], state, outputs)
            return state, [outputs[name] for name in names]

        end_state, outputs = run_steps(step, state, self.get_start_state(), tf.shape(times)[1])
        return end_state, dict(zip(names, map(_swap_step_and_window, outputs), strict=True))

    def _apply_exogenous_step(
        self,
        index: tf.Tensor,
        now: tf.Tensor,
        exogenous: tf.Tensor,
        state: Nest,
        features: dict[str, TensorLike],
    ) -> Nest:
        updated_state = self._exogenous_input_step(now, exogenous, state)
        if self._exogenous_update_condition is None:
            return updated_state
        current = {
            name: tf.convert_to_tensor(value)[:, index]
            for name, value in features.items()
            if name not in _NOT_EXOGENOUS
        }
        is_updated = self._exogenous_update_condition(now, current)

        def select(new: tf.Tensor, old: tf.Tensor) -> tf.Tensor:
            return tf.where(tf.reshape(is_updated, [-1] + [1] * (new.shape.rank - 1)), new, old)

        flat = map(select, tf.nest.flatten(updated_state), tf.nest.flatten(state))
        return tf.nest.pack_sequence_as(state, list(flat))


def _reuse_first_input_layer(
    getter: Callable[..., tf.Variable], name: str, *arguments: Any, **named: Any
) -> tf.Variable:
    """Gets the variable of a graph's first input layer for the following ones."""
    return getter(re.sub(r"input_layer_\d+/", "input_layer/", name), *arguments, **named)


def _flatten_windows(values: TensorLike) -> tf.Tensor:
    """Reshapes [num_windows, window, ...] to one row for each time."""
    return tf.reshape(values, tf.concat([[-1], tf.shape(values)[2:]], 0))


def _swap_step_and_window(stacked: tf.Tensor) -> tf.Tensor:
    """Swaps the first two dimensions."""
    return tf.transpose(stacked, [1, 0, *range(2, stacked.shape.rank)])
