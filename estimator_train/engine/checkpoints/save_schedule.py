"""Decides after which steps a training writes checkpoints."""

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.types import (
    GlobalStepHook,
    Listener,
    RunContext,
    RunValues,
    SaverHook,
)


class CheckpointStepsListener(Listener):
    """Listener that requests checkpoints at certain steps, and knows the last one in advance.

    Attributes:
      every_steps: Numbers of steps; the saver hook writes a checkpoint at each multiple of each.
      is_ending: Whether training has ended, so that the next checkpoint is the last.
    """

    every_steps: frozenset[int] = frozenset()
    is_ending: bool = False


class SaveSchedule(GlobalStepHook):
    """Hook that decides after which steps the saver hooks write checkpoints.

    They write a checkpoint
      - when a session begins, and when training ends;
      - at their interval: `RunConfig.save_checkpoints_steps` or `save_checkpoints_secs`, or that of
        the user's saver hook. Asynchronous training shortens it by the duration of a save
        (`set_interval`);
      - at the global steps that a CheckpointStepsListener requests.
    Synchronous workers write one only after a step that the chief announced in their vote.

    This hook comes before the saver hooks, so that it notifies listeners of the end first.

    Args:
      savers: The hooks that write checkpoints in the session; the first one has the listeners.
      listeners: The listeners of the first saver hook.
    """

    def __init__(self, savers: Sequence[SaverHook], listeners: Sequence[Listener]) -> None:
        self._savers = list(savers)
        self._listeners = [
            listener for listener in listeners if isinstance(listener, CheckpointStepsListener)
        ]
        self._intervals = sorted({n for listener in self._listeners for n in listener.every_steps})

    def begin(self) -> None:
        """Finds the global step."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._seen: int | None = None
        self._saved: int | None = None
        for listener in self._listeners:
            listener.is_ending = False

    def set_interval(self, *, steps: int | None = None, secs: float | None = None) -> None:
        """Changes the interval of the first saver hook.

        Args:
          steps: The interval in steps, for a hook that counts steps.
          secs: The interval in seconds, for a hook that counts seconds.
        """
        tf_hooks.set_interval(self._savers[0], steps=steps, secs=secs)

    def is_due_after_next(self, global_step: int) -> bool:
        """Returns whether a checkpoint is due after the next step.

        Args:
          global_step: The current global step.
        """
        hooks = (self, *self._savers)
        return any(hook_schedule.steps_until_due(hook, global_step) == 1 for hook in hooks)

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the number of steps up to the next checkpoint that a listener requests."""
        return min((every - global_step % every for every in self._intervals), default=None)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves a checkpoint if a listener requests one at this step."""
        before = int(run_values.results)
        # Other workers also count up the step, so that this hook may skip the requested one.
        seen, self._seen = self._seen or before, before + 1
        if not any((before + 1) // every > seen // every for every in self._intervals):
            return
        self._saved = int(run_context.session.run(self._global_step))
        if tf_hooks.save_now(self._savers[0], run_context.session, self._saved):
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Tells listeners that the next checkpoint is the last; skips it if it is saved."""
        for listener in self._listeners:
            listener.is_ending = True
        if self._saved is not None and self._saved == session.run(self._global_step):
            tf_hooks.count_as_saved(self._savers[0], self._saved)
