"""What hooks that act every so many steps have in common."""

from typing import Any

import tensorflow as tf

from estimator_train.engine.placed_hook import PlacedHook


class EveryNStepsHook(PlacedHook):
    """A hook that counts steps, in loops as well as outside them, and acts at every n-th.

    Args:
      every: Steps from one action to the next.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._step = 0

    def act(self, session: tf.compat.v1.Session) -> None:
        """Does what the hook is for; called when the count is a multiple of `every`."""
        raise NotImplementedError

    def steps_until_due(self, global_step: int) -> int:
        """Steps up to the next one after which it acts."""
        del global_step
        return self._every - self._step % self._every

    def after_loop(self, steps: int, loss: Any) -> None:
        """Counts steps that it did not see."""
        del loss
        self._step += steps

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Counts a step, and acts if it is time."""
        del run_values
        self._step += 1
        if self._step % self._every == 0:
            self.act(run_context.session)
