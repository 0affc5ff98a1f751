"""When the checkpoints of a training are written: decided here, and nowhere else."""

from collections.abc import Callable, Sequence

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.hook_types import (
    GlobalStepHook,
    Listener,
    RunContext,
    RunValues,
    SaverHook,
)
from estimator_train.engine.loops import hook_schedule


class WaitingListener(Listener):
    """A listener that has checkpoints written for it, and knows the last before it is written.

    Attributes:
      every_steps: Numbers of steps; a checkpoint is written at each multiple of each, whatever else
        is set.
      is_ending: Whether training has ended, so that the next checkpoint is the last.
    """

    every_steps: frozenset[int] = frozenset()
    is_ending: bool = False


class SaveSchedule(GlobalStepHook):
    """Decides after which steps the saver hooks of a training write a checkpoint.

    They write one
      - when a session begins, and when training ends;
      - at their interval: `RunConfig.save_checkpoints_steps` or `save_checkpoints_secs`, or that of
        a saver hook of the user's. Asynchronous training shortens it by what a save takes
        (`set_interval`);
      - at the global steps that a WaitingListener waits for;
    and synchronous workers only after a step for which all have agreed on it (`wait_for`).

    It stands before the saver hooks, so that the listeners hear first of the end.

    Args:
      savers: The hooks that write checkpoints in the session; the first is the one that listeners
        have.
      listeners: The listeners of the first, of which it heeds those that wait.
    """

    def __init__(self, savers: Sequence[SaverHook], listeners: Sequence[Listener]) -> None:
        self._savers = list(savers)
        self._listeners = [one for one in listeners if isinstance(one, WaitingListener)]
        self._every = sorted({n for listener in self._listeners for n in listener.every_steps})

    def begin(self) -> None:
        """Finds the global step."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._seen: int | None = None
        self._saved: int | None = None
        for listener in self._listeners:
            listener.is_ending = False

    def set_interval(self, *, steps: int | None = None, secs: float | None = None) -> None:
        """Changes how long after its last checkpoint the first saver hook writes the next.

        Args:
          steps: So many steps, if it counts steps.
          secs: So many seconds, if it counts them.
        """
        tf_internals.set_interval(self._savers[0], steps=steps, secs=secs)

    def wait_for(self, is_agreed: Callable[[], bool]) -> None:
        """Has saver hooks save only where something else agrees, but for a session's start.

        Args:
          is_agreed: Whether a checkpoint may be written after the step that was just made.
        """
        for saver in self._savers:
            tf_internals.save_only_when(saver, is_agreed)

    def is_due_after_next(self, global_step: int) -> bool:
        """Whether a checkpoint is to be written after the next step.

        Args:
          global_step: The global step now.
        """
        hooks = (self, *self._savers)
        return any(hook_schedule.steps_until_due(hook, global_step) == 1 for hook in hooks)

    def steps_until_due(self, global_step: int) -> int | None:
        """Steps up to the next one after which a checkpoint is waited for."""
        return min((every - global_step % every for every in self._every), default=None)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if a step that a listener waits for has come."""
        before = int(run_values.results)
        # Other workers may have made steps too, so that just the awaited one is never seen.
        seen, self._seen = self._seen or before, before + 1
        if not any((before + 1) // every > seen // every for every in self._every):
            return
        self._saved = int(run_context.session.run(self._global_step))
        if tf_internals.save_now(self._savers[0], run_context.session, self._saved):
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Tells that the next checkpoint is the last, unless it is written already."""
        for listener in self._listeners:
            listener.is_ending = True
        if self._saved is not None and self._saved == session.run(self._global_step):
            tf_internals.count_as_saved(self._savers[0], self._saved)
