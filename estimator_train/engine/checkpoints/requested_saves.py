"""Checkpoints at global steps that somebody waits for, beside those that come anyway."""

from collections.abc import Iterable

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.global_step_hook import GlobalStepHook


class WaitingListener(tf.compat.v1.train.CheckpointSaverListener):
    """A listener that has checkpoints written for it, and knows the last before it is written.

    Attributes:
      every_steps: Numbers of steps; a checkpoint is written at each multiple of each, whatever else
        is set.
      is_ending: Whether training has ended, so that the next checkpoint is the last.
    """

    every_steps: frozenset[int] = frozenset()
    is_ending: bool = False


class SaveForListeners(GlobalStepHook):
    """Has a saver hook save at the global steps that its listeners wait for.

    It stands before the saver among the hooks, so that the listeners hear first of the end.

    Args:
      saver: The hook that writes checkpoints in the same session.
      listeners: Its listeners, of which only those that wait are heeded.
    """

    def __init__(
        self,
        saver: tf.compat.v1.train.CheckpointSaverHook,
        listeners: Iterable[tf.compat.v1.train.CheckpointSaverListener],
    ) -> None:
        self._saver = saver
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

    def steps_until_due(self, global_step: int) -> int | None:
        """Steps up to the next one after which a checkpoint is waited for."""
        return min((every - global_step % every for every in self._every), default=None)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Saves if a step that a listener waits for has come."""
        before = int(run_values.results)
        # Other workers may have made steps too, so that just the awaited one is never seen.
        seen, self._seen = self._seen or before, before + 1
        if not any((before + 1) // every > seen // every for every in self._every):
            return
        self._saved = int(run_context.session.run(self._global_step))
        if tf_internals.save_now(self._saver, run_context.session, self._saved):
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Tells that the next checkpoint is the last, unless it is written already."""
        for listener in self._listeners:
            listener.is_ending = True
        if self._saved is not None and self._saved == session.run(self._global_step):
            tf_internals.count_as_saved(self._saver, self._saved)
