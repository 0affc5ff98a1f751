"""What an exported model of time series takes and returns."""

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_train.compat.v1 as v1
from estimator_train.legacy.contrib.timeseries.feature_keys import (
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from estimator_train.legacy.contrib.timeseries.model import TimeSeriesModel

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class _OutputWithoutState(v1.export.PredictOutput):
    """The outputs of a signature that takes no state."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """See the base class."""
        taken = {
            name: tensor
            for name, tensor in receiver_tensors.items()
            if not name.startswith(State.STATE_PREFIX)
        }
        return super().as_signature_def(taken)


def state_names(parts: list[Any]) -> list[str]:
    """The names of the parts of a state, in their order."""
    return [f"{State.STATE_PREFIX}_{index:02d}" for index in range(len(parts))]


def receiver_fn(
    model: TimeSeriesModel, batch_size: int | None, series_length: int | None
) -> Callable[[], Any]:
    """The input_receiver_fn of an export: times, values, exogenous features and a state.

    Args:
      model: The model.
      batch_size: How many series a request has; any if None.
      series_length: How many times; any if None.
    """

    def serving_input_receiver_fn() -> Any:
        first: list[Any] = [batch_size, series_length]
        placeholder = _v1.placeholder
        inputs = {
            _TIMES: placeholder(tf.int64, first, _TIMES),
            _VALUES: placeholder(model.dtype, [*first, model.num_features], _VALUES),
        }
        for name, spec in _exogenous(model).items():
            is_one = isinstance(spec, tf.io.FixedLenFeature)
            shape = [*first, *(spec.shape if is_one else [None])]
            inputs[name] = placeholder(spec.dtype, shape, name)
        parts = _state_parts(model)
        for name, (dtype, shape) in zip(state_names(parts), parts, strict=True):
            inputs[name] = placeholder(dtype, [batch_size, *shape], name)
        return v1.export.ServingInputReceiver(inputs, inputs)

    return serving_input_receiver_fn


def serving_outputs(model: TimeSeriesModel, features: dict[str, Any]) -> dict[str, Any]:
    """The export outputs of a model: prediction, and filtering with a state and without.

    Args:
      model: The model.
      features: Those of `receiver_fn`.
    """
    start = model.get_start_state()
    names = state_names(tf.nest.flatten(start))
    given = {name: value for name, value in features.items() if name not in names}
    state = tf.nest.pack_sequence_as(start, [features[name] for name in names])
    predicted = model.predict({**given, State.STATE_TUPLE: state})
    filtered = model.get_batch_loss(given, v1.ModeKeys.EVAL, state)
    cold = model.define_loss(given, v1.ModeKeys.EVAL)
    return {
        SavedModelLabels.PREDICT: v1.export.PredictOutput(predicted),
        SavedModelLabels.FILTER: v1.export.PredictOutput(_end_state(filtered)),
        SavedModelLabels.COLD_START_FILTER: _OutputWithoutState(_end_state(cold)),
    }


def one_shot_outputs(model: TimeSeriesModel, features: dict[str, Any]) -> dict[str, Any]:
    """The export output of a model that predicts the times after those of its values.

    Args:
      model: The model.
      features: Those of `receiver_fn`; all but the values have as many times as `times`.
    """
    names = state_names(tf.nest.flatten(model.get_start_state()))
    values = features[_VALUES]
    length = tf.shape(values)[1]
    rest = {name: value for name, value in features.items() if name not in (*names, _VALUES)}
    filtered = {name: value[:, :length] for name, value in rest.items()}
    outputs = model.define_loss({**filtered, _VALUES: values}, v1.ModeKeys.EVAL)
    coming = {name: value[:, length:] for name, value in rest.items()}
    predicted = model.predict({**coming, State.STATE_TUPLE: outputs.end_state})
    return {SavedModelLabels.PREDICT: _OutputWithoutState(predicted)}


def _end_state(outputs: Any) -> dict[str, Any]:
    parts = tf.nest.flatten(outputs.end_state)
    return dict(zip(state_names(parts), map(tf.identity, parts), strict=True))


def _exogenous(model: TimeSeriesModel) -> dict[str, Any]:
    columns = model.exogenous_feature_columns
    return _v1.feature_column.make_parse_example_spec(columns) if columns else {}


def _state_parts(model: TimeSeriesModel) -> list[tuple[tf.DType, list[int]]]:
    """The dtype and shape of each part of a state."""
    with tf.Graph().as_default():
        model.initialize_graph()
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(model.get_start_state())]
        return [(part.dtype, part.shape.as_list()) for part in parts]
