"""TensorFlow's hooks of log points, which read the global step again after a step.

They do so in a session call of its own, which takes as long as a small step. Here they find it
among what the step itself gives.
"""

from typing import Any, TypeAlias

import tensorflow as tf

_train = tf.compat.v1.train
_Context: TypeAlias = tf.compat.v1.train.SessionRunContext
_Values: TypeAlias = tf.compat.v1.train.SessionRunValues


class _InOneCall:
    """Asks for the global step after the step, and answers with it what the hook asks then.

    Args:
      step_after: Tensor of the global step after a step.
      **arguments: The hook's own.
    """

    keeps_cadence = True

    def __init__(self, step_after: tf.Tensor, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._step_after = step_after

    def before_run(self, run_context: _Context) -> tf.compat.v1.train.SessionRunArgs:
        own = super().before_run(run_context).fetches  # type: ignore[misc]
        return _train.SessionRunArgs({"own": own, "after": self._step_after})

    def after_run(self, run_context: _Context, run_values: _Values) -> None:
        del run_context
        found = run_values.results
        own = _train.SessionRunValues(found["own"], run_values.options, run_values.run_metadata)
        super().after_run(_Answer(found["after"]), own)  # type: ignore[misc]


class StepCounter(_InOneCall, tf.compat.v1.train.StepCounterHook):
    """Writes `global_step/sec`."""


class SummarySaver(_InOneCall, tf.compat.v1.train.SummarySaverHook):
    """Writes the summaries."""


class _Answer:
    """Stands for a run's context, whose session is asked for the global step and nothing else."""

    def __init__(self, step: int) -> None:
        self.session = self
        self._step = step

    def run(self, fetches: Any) -> int:
        del fetches
        return self._step
