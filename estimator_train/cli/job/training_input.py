"""Wrapper of an input_fn that predicts the last step of training."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train import RunConfig
from estimator_train.engine.inputs.input_fn import is_dataset


class TrainingInput:
    """Wrapper of an input_fn that records the number of batches in its dataset.

    Args:
      input_fn: The input_fn; it takes config and input_context.
      max_steps: The global step at which training stops, or None to train until the input ends.
    """

    def __init__(self, input_fn: Callable[..., Any], max_steps: int | None) -> None:
        self._input_fn = input_fn
        self._max_steps = max_steps
        self._batches: tf.Tensor | None = None
        self._context = tf.distribute.InputContext()

    def __call__(self, config: RunConfig, input_context: tf.distribute.InputContext) -> Any:
        """Calls the wrapped input_fn and returns its result."""
        result = self._input_fn(config=config, input_context=input_context)
        if is_dataset(result):
            self._batches = tf.data.experimental.cardinality(result)
            self._context = input_context
        return result

    def find_last_step(self, session: tf.compat.v1.Session) -> int | None:
        """Returns the global step at which training will end, or None if it is unknown."""
        if self._max_steps is not None or self._batches is None:
            return self._max_steps
        start, batches = session.run(
            [tf.compat.v1.train.get_global_step(session.graph), self._batches]
        )
        if batches < 0:  # The cardinality is infinite or unknown.
            return None
        # A step uses one batch for each replica; each worker has as many batches as this one.
        batches *= self._context.num_input_pipelines
        return int(start + batches // self._context.num_replicas_in_sync)
