"""State managers, which choose the initial states of windows."""

from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import ModeKeys
from tf_contrib.timeseries.feature_keys import FilteringFeatures
from tf_contrib.timeseries.math_utils import InputStatistics
from tf_contrib.timeseries.model import ModelOutputs, TimeSeriesModel

_TIMES, _STATE = FilteringFeatures.TIMES, FilteringFeatures.STATE_TUPLE


class PassthroughStateManager:
    """Manager that uses the state among the features, or the start state of the model."""

    def initialize_graph(
        self, model: TimeSeriesModel, input_statistics: InputStatistics | None = None
    ) -> None:
        """Starts a new graph of the model."""
        model.initialize_graph(input_statistics=input_statistics)

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """Computes the loss and the predictions of windows."""
        if _STATE in features:
            return model.get_batch_loss(features, mode, features[_STATE])
        return model.define_loss(features, mode)


class FilteringOnlyStateManager(PassthroughStateManager):
    """Manager that uses the start state of the model."""

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """See the base class.

        Raises:
          ValueError: The features contain a state.
        """
        if _STATE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return super().define_loss(model, features, mode)


class ChainingStateManager(PassthroughStateManager):
    """Manager that starts training windows with the end state of an earlier window.

    States are stored by their time, rounded up to the next multiple of an interval. A window starts
    with the latest state that is at most an interval older than its first time, or with the start
    state of the model.

    Args:
      state_saving_interval: Length of the interval.
      checkpoint_state: Whether to save the states in checkpoints.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        self._interval = state_saving_interval
        self._checkpoint = checkpoint_state

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """See the base class."""
        if mode != ModeKeys.TRAIN:
            return super().define_loss(model, features, mode)
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        start = model.get_start_state()
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(start)]
        tables = [self._create_table(f"states_{index}", part) for index, part in enumerate(parts)]
        keys = times[:, 0] // self._interval
        start_states = [
            tf.reshape(table.lookup(keys), [-1, *part.shape.as_list()])
            for table, part in zip(tables, parts, strict=True)
        ]
        state = tf.nest.pack_sequence_as(start, start_states)
        outputs = model.get_batch_loss(features, mode, state)
        keys = times[:, -1] // self._interval + 1
        insertions = [
            table.insert(keys, tf.reshape(part, [tf.size(keys), -1]))
            for table, part in zip(tables, tf.nest.flatten(outputs.end_state), strict=True)
        ]
        with tf.control_dependencies(insertions):
            return outputs._replace(loss=tf.identity(outputs.loss))

    def _create_table(self, name: str, start: tf.Tensor) -> tf.lookup.experimental.MutableHashTable:
        """Creates a table from interval numbers to a part of the state; the default is `start`."""
        return tf.lookup.experimental.MutableHashTable(
            tf.int64, start.dtype, tf.reshape(start, [-1]), name, self._checkpoint
        )
