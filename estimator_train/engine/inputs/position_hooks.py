"""Hooks that take up and save the position in the input at a session's moments for it."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import (
    GlobalStepHook,
    Listener,
    PassiveHook,
    RunContext,
    RunValues,
)
from estimator_train.engine.inputs.input_fn import Inputs


class TakeUpPosition(PassiveHook):
    """Moves the input of a new session to its position at the restored checkpoint.

    It stands right after the hook that starts the input, and before any that saves.
    """

    def __init__(self, position: Any) -> None:
        self._position = position
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Moves the input."""
        del coord
        self._position.take_up(session, int(session.run(self._global_step)))


class SavePosition(Listener):
    """Saves the position with each checkpoint that its saver hook writes."""

    def __init__(self, position: Any) -> None:
        self._position = position

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Writes the position."""
        self._position.write(session, global_step_value)

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Forgets the position if it is the input's end."""
        self._position.forget_end(session, global_step_value)


class SavePositionOfWorker(GlobalStepHook):
    """Saves the position of a worker that writes no checkpoints, at the steps of the chief's.

    Args:
      position: The worker's position.
      inputs: Its input.
      every_steps: Steps from one checkpoint to the next, for an input that does not tell of them.
    """

    def __init__(self, position: Any, inputs: Inputs, every_steps: int = 0) -> None:
        self._position, self._inputs, self._every = position, inputs, every_steps
        self._global_step = tf.compat.v1.train.get_global_step()
        self._saved = 0

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Saves, as the chief does."""
        del coord
        self._write(session, int(session.run(self._global_step)))

    def steps_until_due(self, global_step: int) -> int | None:
        """The next step at which the chief saves; it tells of those before they come, if at all."""
        told = self._inputs.chief_saves is not None
        return None if told else self._saved + self._every - global_step

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if the chief does now."""
        step = int(run_values.results) + 1
        saves = self._inputs.chief_saves
        if saves is None:
            saves = step >= self._saved + self._every
        if saves:
            self._write(run_context.session, step)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last position, as the chief does the last checkpoint."""
        step = int(session.run(self._global_step))
        if step != self._saved:
            self._write(session, step)
        self._position.forget_end(session, step)

    def _write(self, session: tf.compat.v1.Session, step: int) -> None:
        self._position.write(session, step)
        self._saved = step
