"""Hook that ends training when all trees are grown."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_train.canned.boosted_trees.ensemble import Ensemble
from estimator_train.canned.boosted_trees.settings import Settings


class StopWhenGrown(tf.compat.v1.train.SessionRunHook):
    """Hook that stops training when all trees are finished, or too many layers added nothing.

    Args:
      ensemble: The trees.
      settings: Give the number of trees.
      train_op: The training step; the hook reads the trees after each step.
    """

    def __init__(self, ensemble: Ensemble, settings: Settings, train_op: Any) -> None:
        self._settings = settings
        self._due = 0
        with tf.control_dependencies([train_op]):
            step = tf.compat.v1.train.get_or_create_global_step()
            state = (ensemble.finished, ensemble.layers, ensemble.attempted, step)
            self._state = [variable.read_value() for variable in state]

    def steps_until_due(self, global_step: int) -> int:
        """Returns the minimum number of steps until the last layer can be grown."""
        return self._due - global_step

    def before_run(self, run_context: Any) -> tf.compat.v1.train.SessionRunArgs:
        """Requests the state of the trees."""
        return tf.compat.v1.train.SessionRunArgs(self._state)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Requests a stop if the trees are finished."""
        finished, layers, attempted, step = (int(number) for number in run_values.results)
        settings = self._settings
        to_grow = (settings.n_trees - finished) * settings.max_depth - layers
        to_attempt = settings.max_layers + 1 - attempted
        left = min(to_grow, to_attempt)
        # The first of these layers may need only one more batch.
        self._due = step + (left - 1) * settings.batches + 1
        if left <= 0:
            run_context.request_stop()
