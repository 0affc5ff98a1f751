"""The positions in the input of asynchronous workers, saved when the chief writes a checkpoint.

They have no step in common. So the chief says, in a table on the first parameter server, of which
step it is about to write a checkpoint, and each worker saves its position after the step in which
it reads that.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import Listener, PassiveHook, RunArgs, RunContext, RunValues
from estimator_train.engine.inputs.position import InputPosition

_TABLE = "estimator_train/saved_step"
_NONE = -1


class TellOfSaves(Listener):
    """Tells the workers of which step the chief writes a checkpoint; the chief's listener."""

    def begin(self) -> None:
        """Adds to the graph what is told."""
        self._saved = _SavedStep()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Tells."""
        session.run(self._saved.tell, {self._saved.value: global_step_value})


class SavePositionWithChief(PassiveHook):
    """Saves a worker's position when it reads that the chief writes a checkpoint.

    Args:
      position: The worker's position.
    """

    def __init__(self, position: InputPosition) -> None:
        self._position = position
        self._told = _NONE

    def begin(self) -> None:
        """Adds to the graph what is read."""
        self._saved = _SavedStep()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Saves, for a checkpoint that was written before this worker came."""
        del coord
        self._told = _NONE
        self._save(session, int(session.run(self._saved.step)))

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Asks of which step the chief writes a checkpoint."""
        del run_context
        return RunArgs(self._saved.step)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if it is another one."""
        self._save(run_context.session, int(run_values.results))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves where the input stands now: at its end, if that has ended this worker's training.

        A worker of a job that starts again from the same checkpoint then has nothing left to read.
        """
        told = int(session.run(self._saved.step))
        if told != _NONE:
            self._position.write(session, told)

    def _save(self, session: tf.compat.v1.Session, told: int) -> None:
        if told not in (_NONE, self._told):
            self._position.write(session, told)
        self._told = told


class _SavedStep:
    """The step of the chief's last checkpoint, in a table on the first parameter server.

    Attributes:
      step: Tensor of it; -1 before there is one.
      value: Placeholder of what is told.
      tell: Sets `step` to `value`.
    """

    def __init__(self) -> None:
        with tf.device("/job:ps/task:0"), tf.name_scope("saved_step"):
            self.value = tf.compat.v1.placeholder(tf.int64, [])
            table = tf.raw_ops.MutableHashTableV2(
                key_dtype=tf.string, value_dtype=tf.int64, shared_name=_TABLE
            )
            key = tf.constant("step")
            self.step = tf.raw_ops.LookupTableFindV2(
                table_handle=table, keys=key, default_value=tf.constant(_NONE, tf.int64)
            )
            self.tell = tf.raw_ops.LookupTableInsertV2(
                table_handle=table, keys=key, values=self.value
            )
