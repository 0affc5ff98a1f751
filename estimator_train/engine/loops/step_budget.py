"""The number of steps that the next session call may run before a step that a hook must see."""

from collections.abc import Sequence

import tensorflow as tf

from estimator_train.engine.hook_types import Hook
from estimator_train.engine.loops import hook_schedule

_LOG = tf.get_logger()
# Nothing interrupts a session call, and no hook with a clock sees it: it is kept short.
_MAX_CALL_SECS = 1.0
_FIRST_LOOP_STEPS = 10


class StepBudget:
    """Limits loops by the steps that hooks must see, by `steps_per_loop`, and by time.

    Args:
      hooks: All hooks of the session.
      steps_per_call: Maximum number of steps from one that hooks see to the next, that one
        included; 'auto' for no limit.
    """

    def __init__(self, hooks: Sequence[Hook], steps_per_call: int | str) -> None:
        self._hooks = hooks
        self._limit = None if steps_per_call == "auto" else int(steps_per_call)
        self._secs_per_step: float | None = None
        self._logged_size = self._logged_remainder = False
        self._due_before: int | None = None
        self._next_due: tuple[int | None, Hook | None] = None, None

    def count_steps(self, global_step: int) -> int:
        """Returns how many steps may run in a loop now; 0 if a hook must see the next step.

        Args:
          global_step: The global step now.
        """
        due, hook = self._next_due = self._find_next_due(global_step)
        self._log_remainder(due, hook)
        limits = [limit for limit in (due, self._limit) if limit is not None]
        return self._limit_time(min(limits) - 1 if limits else None)

    def is_free_after_next(self, global_step: int) -> bool:
        """Returns whether no hook needs to see the step after the next, as far as is known now.

        Args:
          global_step: The global step now.
        """
        due, _ = self._find_next_due(global_step)
        # A hook that sees the next step decides only then which one it must see after that.
        return (due is None or due > 2) and self._limit != 1

    def record(self, secs: float, steps: int) -> None:
        """Stores the time of a session call.

        Args:
          secs: Duration in seconds.
          steps: Number of steps that the call ran.
        """
        self._secs_per_step = secs / max(1, steps)

    def log_size(self) -> None:
        """Logs once how many steps the loop of the last count runs, and which hook limits it."""
        if self._logged_size:
            return
        self._logged_size = True
        due, hook = self._next_due
        if due is not None and (self._limit is None or due <= self._limit):
            _LOG.info(
                "Up to %d training steps run in one session call; the hook %s sees the next.",
                due,
                type(hook).__name__,
            )
        else:
            limit = self._limit or "an unlimited number of"
            _LOG.info("Up to %s training steps run in one session call.", limit)

    def _find_next_due(self, global_step: int) -> tuple[int | None, Hook | None]:
        """Returns the steps up to and with the next that a hook must see, and that hook."""
        next_due: tuple[int | None, Hook | None] = None, None
        for hook in self._hooks:
            due = hook_schedule.steps_until_due(hook, global_step)
            if due is not None and (next_due[0] is None or due < next_due[0]):
                next_due = due, hook
        return next_due

    def _limit_time(self, steps: int | None) -> int:
        if self._secs_per_step is None:
            max_steps = _FIRST_LOOP_STEPS
        else:
            max_steps = max(1, int(_MAX_CALL_SECS / self._secs_per_step))
        return max_steps if steps is None else min(steps, max_steps)

    def _log_remainder(self, due: int | None, hook: Hook | None) -> None:
        """Logs once that steps_per_loop does not divide the interval at which a hook sees steps."""
        before, self._due_before = self._due_before, due
        limit = self._limit
        if self._logged_remainder or limit is None or due is None or due <= limit:
            return
        if before is not None and before <= limit:  # The hook has just seen a step.
            self._logged_remainder = True
            if due % limit:
                _LOG.info(
                    "steps_per_loop=%d does not divide the %d steps from one that %s must see to "
                    "the next; the last session call before it runs %d.",
                    limit,
                    due,
                    type(hook).__name__,
                    due % limit,
                )
