"""Checkpoints at global steps that somebody waits for, beside those that come anyway."""

from collections.abc import Iterable

import tensorflow as tf

from estimator_train.engine import tf_internals


class ListenerWithSteps(tf.compat.v1.train.CheckpointSaverListener):
    """A listener for which a checkpoint is written at some global steps, whatever else is set.

    Attributes:
      every_steps: Numbers of steps; a checkpoint is written at each multiple of each.
    """

    every_steps: frozenset[int] = frozenset()


class SaveForListeners(tf.compat.v1.train.SessionRunHook):
    """Has a saver hook save at the global steps that its listeners wait for.

    Args:
      saver: The hook that writes checkpoints in the same session.
      listeners: Its listeners, of which those without steps are passed over.
    """

    def __init__(
        self,
        saver: tf.compat.v1.train.CheckpointSaverHook,
        listeners: Iterable[tf.compat.v1.train.CheckpointSaverListener],
    ) -> None:
        self._saver = saver
        self._every = sorted(
            {
                steps
                for listener in listeners
                if isinstance(listener, ListenerWithSteps)
                for steps in listener.every_steps
            }
        )

    def begin(self) -> None:
        """Finds the global step."""
        self._global_step = tf.compat.v1.train.get_global_step()
        self._step_read = tf_internals.global_step_read()
        self._seen: int | None = None

    def steps_until_due(self, global_step: int) -> int | None:
        """Steps up to the next one after which a checkpoint is waited for."""
        return min((every - global_step % every for every in self._every), default=None)

    def before_run(
        self, run_context: tf.compat.v1.train.SessionRunContext
    ) -> tf.compat.v1.train.SessionRunArgs:
        """Asks for the global step."""
        del run_context
        return tf.compat.v1.train.SessionRunArgs(self._step_read)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Saves if a step that a listener waits for has come and is not saved yet."""
        before = int(run_values.results)
        # Other workers may have made steps too, so that just the awaited one is never seen.
        seen, self._seen = self._seen or before, before + 1
        if not any((before + 1) // every > seen // every for every in self._every):
            return
        step = int(run_context.session.run(self._global_step))
        if tf_internals.save_now(self._saver, run_context.session, step):
            run_context.request_stop()
