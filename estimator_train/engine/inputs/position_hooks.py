"""Hooks that restore and save the position in the input."""

import tensorflow as tf

from estimator_train.engine.hook_types import (
    GlobalStepHook,
    Listener,
    PassiveHook,
    RunContext,
    RunValues,
)
from estimator_train.engine.inputs.position import InputPosition
from estimator_train.engine.loops.coordination import WorkerAgreement
from estimator_train.goodput.clock import INPUT, process_clock


class RestorePositionHook(PassiveHook):
    """Hook that moves the input of a new session to its position at the restored checkpoint.

    It comes directly after the hook that starts the input, and before all hooks that save.
    """

    def __init__(self, position: InputPosition) -> None:
        self._position = position
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Moves the input."""
        del coord
        with process_clock.spend(INPUT):
            self._position.restore(session, int(session.run(self._global_step)))


class SavePositionListener(Listener):
    """Listener that saves the position with each checkpoint of its saver hook."""

    def __init__(self, position: InputPosition) -> None:
        self._position = position

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Writes the position."""
        self._position.write(session, global_step_value)

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Removes the position if the input has ended."""
        self._position.remove_at_end(session, global_step_value)


class SaveWorkerPositionHook(GlobalStepHook):
    """Hook that saves a worker's position at the steps of the chief's checkpoints.

    Args:
      position: The worker's position.
      agreement: Results of the workers' votes.
      every_steps: Steps from one checkpoint to the next, for workers that do not vote.
    """

    def __init__(
        self, position: InputPosition, agreement: WorkerAgreement, every_steps: int = 0
    ) -> None:
        self._position, self._agreement, self._every = position, agreement, every_steps
        self._global_step = tf.compat.v1.train.get_global_step()
        self._saved = 0

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Saves the first position, as the chief saves its first checkpoint."""
        del coord
        self._write(session, int(session.run(self._global_step)))

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the steps up to the chief's next checkpoint; None if the votes announce it."""
        is_voted = self._agreement.chief_saves is not None
        return None if is_voted else self._saved + self._every - global_step

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves the position if the chief saves a checkpoint after this step."""
        step = int(run_values.results) + 1
        saves = self._agreement.chief_saves
        if saves is None:
            saves = step >= self._saved + self._every
        if saves:
            self._write(run_context.session, step)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last position, as the chief saves the last checkpoint."""
        step = int(session.run(self._global_step))
        if step != self._saved:
            self._write(session, step)
        self._position.remove_at_end(session, step)

    def _write(self, session: tf.compat.v1.Session, step: int) -> None:
        self._position.write(session, step)
        self._saved = step
