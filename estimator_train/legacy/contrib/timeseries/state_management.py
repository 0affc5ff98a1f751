"""Which state a model begins a window with."""

from typing import Any

import tensorflow as tf

from estimator_train.compat.v1 import ModeKeys
from estimator_train.legacy.contrib.timeseries.feature_keys import FilteringFeatures
from estimator_train.legacy.contrib.timeseries.model import ModelOutputs, TimeSeriesModel

_TIMES, _STATE = FilteringFeatures.TIMES, FilteringFeatures.STATE_TUPLE


class PassthroughStateManager:
    """Windows begin with the state among their features, or else with the model's start state."""

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: Any = None) -> None:
        """Begins a new graph; arguments as for the methods of that name."""
        model.initialize_graph(input_statistics=input_statistics)

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """What the model makes of windows."""
        if _STATE in features:
            return model.get_batch_loss(features, mode, features[_STATE])
        return model.define_loss(features, mode)


class FilteringOnlyStateManager(PassthroughStateManager):
    """Windows begin with the model's start state."""

    def define_loss(
        self, model: TimeSeriesModel, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """See the base class.

        Raises:
          ValueError: Windows bring a state.
        """
        if _STATE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return super().define_loss(model, features, mode)


class ChainingStateManager(PassthroughStateManager):
    """Windows of training begin with the state in which an earlier window ended.

    States are kept by their time, rounded up to the next multiple of an interval: a window begins
    with the latest one that is not after its first time and within an interval of it, and where
    there is none, with the model's start state.

    Args:
      state_saving_interval: The interval.
      checkpoint_state: Whether checkpoints have the states; else they are found anew.
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
        tables = [self._table(f"states_{index}", part) for index, part in enumerate(parts)]
        keys = times[:, 0] // self._interval
        found = [
            tf.reshape(table.lookup(keys), [-1, *part.shape.as_list()])
            for table, part in zip(tables, parts, strict=True)
        ]
        state = tf.nest.pack_sequence_as(start, found)
        outputs = model.get_batch_loss(features, mode, state)
        keys = times[:, -1] // self._interval + 1
        kept = [
            table.insert(keys, tf.reshape(part, [tf.size(keys), -1]))
            for table, part in zip(tables, tf.nest.flatten(outputs.end_state), strict=True)
        ]
        with tf.control_dependencies(kept):
            return outputs._replace(loss=tf.identity(outputs.loss))

    def _table(self, name: str, start: tf.Tensor) -> Any:
        """From the number of an interval to a part of the state: that at the start if none is."""
        return tf.lookup.experimental.MutableHashTable(
            tf.int64, start.dtype, tf.reshape(start, [-1]), name, self._checkpoint
        )
