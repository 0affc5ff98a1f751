"""Saved input positions of asynchronous workers: each saves when the chief writes a checkpoint.

These workers have no step in common. The chief announces the step of a checkpoint in a table on the
first parameter server before it writes it. Each worker saves its position after the step in which
it reads the announcement.
"""

from __future__ import annotations

import tensorflow as tf

from estimator_train.engine.distributed.ps_table import SharedCounter
from estimator_train.engine.hook_types import Listener, PassiveHook, RunArgs, RunContext, RunValues
from estimator_train.engine.inputs.position import InputPosition

_NO_STEP = -1


class AnnounceSavesListener(Listener):
    """Listener by which the chief announces the step of each checkpoint."""

    def begin(self) -> None:
        """Adds the announcement to the graph."""
        self._saved_step = _make_saved_step_counter()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Announces the step."""
        self._saved_step.set(session, global_step_value)


class SaveWithChiefHook(PassiveHook):
    """Hook that saves a worker's input position when the chief announces a checkpoint.

    Args:
      position: The worker's position.
    """

    def __init__(self, position: InputPosition) -> None:
        self._position = position
        self._last_saved = _NO_STEP

    def begin(self) -> None:
        """Adds the read of the announcement to the graph."""
        self._saved_step = _make_saved_step_counter()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Saves for a checkpoint that was announced before this session."""
        self._last_saved = _NO_STEP
        self._save(session, int(session.run(self._saved_step.value)))

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the announced step."""
        return RunArgs(self._saved_step.value)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if the chief announced another step."""
        self._save(run_context.session, int(run_values.results))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last position, which may be the end of the input.

        A worker of a job that restarts from the same checkpoint then has nothing left to read.
        """
        step = int(session.run(self._saved_step.value))
        if step != _NO_STEP:
            self._position.write(session, step)

    def _save(self, session: tf.compat.v1.Session, step: int) -> None:
        if step not in (_NO_STEP, self._last_saved):
            self._position.write(session, step)
        self._last_saved = step


def _make_saved_step_counter() -> SharedCounter:
    """Returns the step of the chief's last checkpoint."""
    return SharedCounter("saved_step", _NO_STEP)
