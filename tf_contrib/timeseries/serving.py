"""Inputs and outputs of an exported time series model."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from tf_contrib.timeseries.feature_keys import (
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from tf_contrib.timeseries.model import ModelOutputs, TimeSeriesModel

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class _StatelessOutput(v1.export.PredictOutput):
    """Outputs of a signature without a state among its inputs."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        inputs_without_state = {
            name: tensor
            for name, tensor in receiver_tensors.items()
            if not name.startswith(State.STATE_PREFIX)
        }
        return super().as_signature_def(inputs_without_state)


def get_state_names(parts: list[Any]) -> list[str]:
    """Returns the names of the parts of a state, in their order."""
    return [f"{State.STATE_PREFIX}_{index:02d}" for index in range(len(parts))]


def create_receiver_fn(
    model: TimeSeriesModel, batch_size: int | None, series_length: int | None
) -> Callable[[], Any]:
    """Creates the input_receiver_fn of an export: times, values, exogenous features and a state.

    Args:
      model: Model.
      batch_size: Number of series in a request; None: any number.
      series_length: Number of times in a request; None: any number.
    """

    def serving_input_receiver_fn() -> v1.export.ServingInputReceiver:
        leading_sizes: list[Any] = [batch_size, series_length]
        placeholder = _v1.placeholder
        inputs = {
            _TIMES: placeholder(tf.int64, leading_sizes, _TIMES),
            _VALUES: placeholder(model.dtype, [*leading_sizes, model.num_features], _VALUES),
        }
        for name, spec in _create_exogenous_spec(model).items():
            has_fixed_length = isinstance(spec, tf.io.FixedLenFeature)
            shape = [*leading_sizes, *(spec.shape if has_fixed_length else [None])]
            inputs[name] = placeholder(spec.dtype, shape, name)
        parts = _describe_state(model)
        for name, (dtype, shape) in zip(get_state_names(parts), parts, strict=True):
            inputs[name] = placeholder(dtype, [batch_size, *shape], name)
        return v1.export.ServingInputReceiver(inputs, inputs)

    return serving_input_receiver_fn


def create_serving_outputs(model: TimeSeriesModel, features: dict[str, Any]) -> dict[str, Any]:
    """Builds the export outputs: prediction, and filtering with and without a state.

    Args:
      model: Model.
      features: Features of `create_receiver_fn`.
    """
    start = model.get_start_state()
    names = get_state_names(tf.nest.flatten(start))
    inputs = {name: value for name, value in features.items() if name not in names}
    state = tf.nest.pack_sequence_as(start, [features[name] for name in names])
    predicted = model.predict({**inputs, State.STATE_TUPLE: state})
    filtered = model.get_batch_loss(inputs, v1.ModeKeys.EVAL, state)
    cold = model.define_loss(inputs, v1.ModeKeys.EVAL)
    return {
        SavedModelLabels.PREDICT: v1.export.PredictOutput(predicted),
        SavedModelLabels.FILTER: v1.export.PredictOutput(_get_end_state(filtered)),
        SavedModelLabels.COLD_START_FILTER: _StatelessOutput(_get_end_state(cold)),
    }


def create_one_shot_outputs(model: TimeSeriesModel, features: dict[str, Any]) -> dict[str, Any]:
    """Builds the export output that predicts the times after the given values.

    Args:
      model: Model.
      features: Features of `create_receiver_fn`; all but the values are as long as `times`.
    """
    names = get_state_names(tf.nest.flatten(model.get_start_state()))
    values = features[_VALUES]
    length = tf.shape(values)[1]
    sequence_features = {
        name: value for name, value in features.items() if name not in (*names, _VALUES)
    }
    filtered = {name: value[:, :length] for name, value in sequence_features.items()}
    outputs = model.define_loss({**filtered, _VALUES: values}, v1.ModeKeys.EVAL)
    future = {name: value[:, length:] for name, value in sequence_features.items()}
    predicted = model.predict({**future, State.STATE_TUPLE: outputs.end_state})
    return {SavedModelLabels.PREDICT: _StatelessOutput(predicted)}


def _get_end_state(outputs: ModelOutputs) -> dict[str, Any]:
    parts = tf.nest.flatten(outputs.end_state)
    return dict(zip(get_state_names(parts), map(tf.identity, parts), strict=True))


def _create_exogenous_spec(model: TimeSeriesModel) -> dict[str, Any]:
    columns = model.exogenous_feature_columns
    return _v1.feature_column.make_parse_example_spec(columns) if columns else {}


def _describe_state(model: TimeSeriesModel) -> list[tuple[tf.DType, list[int]]]:
    """Returns the dtype and shape of each part of a state."""
    with tf.Graph().as_default():
        model.initialize_graph()
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(model.get_start_state())]
        return [(part.dtype, part.shape.as_list()) for part in parts]
