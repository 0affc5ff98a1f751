"""The positions in the input of asynchronous workers, saved when the chief writes a checkpoint.

They have no step in common. So the chief says, in a table on the first parameter server, of which
step it is about to write a checkpoint, and each worker saves its position after the step in which
it reads that.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_train.engine.distributed.ps_table import ToldNumber
from estimator_train.engine.hook_types import Listener, PassiveHook, RunArgs, RunContext, RunValues
from estimator_train.engine.inputs.position import InputPosition

_TABLE = "estimator_train/saved_step"
_NONE = -1


class TellOfSaves(Listener):
    """Tells the workers of which step the chief writes a checkpoint; the chief's listener."""

    def begin(self) -> None:
        """Adds to the graph what is told."""
        self._saved = _saved_step()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Tells."""
        self._saved.tell(session, global_step_value)


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
        self._saved = _saved_step()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Saves, for a checkpoint that was written before this worker came."""
        del coord
        self._told = _NONE
        self._save(session, int(session.run(self._saved.number)))

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Asks of which step the chief writes a checkpoint."""
        del run_context
        return RunArgs(self._saved.number)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if it is another one."""
        self._save(run_context.session, int(run_values.results))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves where the input stands now: at its end, if that has ended this worker's training.

        A worker of a job that starts again from the same checkpoint then has nothing left to read.
        """
        told = int(session.run(self._saved.number))
        if told != _NONE:
            self._position.write(session, told)

    def _save(self, session: tf.compat.v1.Session, told: int) -> None:
        if told not in (_NONE, self._told):
            self._position.write(session, told)
        self._told = told


def _saved_step() -> ToldNumber:
    """The step of the chief's last checkpoint."""
    return ToldNumber(_TABLE, "step", _NONE)
