"""How many steps the next session call may run before one that a hook must see."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.loops import hook_schedule

_LOG = tf.get_logger()
# A session call cannot be interrupted and no hook with a clock sees it, so it is kept this short.
_LONGEST_CALL_SECS = 1.0
_FIRST_LOOP_STEPS = 10


class StepBudget:
    """Bounds loops by what hooks must see, by `steps_per_loop`, and by the time of a call.

    Args:
      hooks: All hooks of the session.
      limit: The most steps between two that hooks see, one of which they do; None for no limit.
    """

    def __init__(self, hooks: Sequence[Any], limit: int | None) -> None:
        self._hooks, self._limit = hooks, limit
        self._secs_per_step: float | None = None
        self._said_size = self._said_remainder = False
        self._due_before: int | None = None

    def steps(self, global_step: int) -> int:
        """Steps that may run in a loop now; 0 where a hook must see the next.

        Args:
          global_step: The global step now.
        """
        due, holder = self._next_due(global_step)
        self._say_size(due, holder)
        self._say_remainder(due, holder)
        free = min((bound for bound in (due, self._limit) if bound is not None), default=None)
        return self._within_time(None if free is None else free - 1)

    def is_free_after_next(self, global_step: int) -> bool:
        """Whether no hook needs to see the step after the next, as far as can be told before it.

        Args:
          global_step: The global step now.
        """
        due, _ = self._next_due(global_step)
        # Whoever sees the next step says only then which one it must see after it.
        return (due is None or due > 2) and self._limit != 1

    def took(self, secs: float, steps: int) -> None:
        """Notes how long a call took.

        Args:
          secs: Its seconds.
          steps: Its steps.
        """
        self._secs_per_step = secs / max(1, steps)

    def _next_due(self, global_step: int) -> tuple[int | None, Any]:
        """Steps up to and with the next that a hook must see, and that hook; or None, None."""
        due = [(hook_schedule.steps_until_due(hook, global_step), hook) for hook in self._hooks]
        return min(
            ((steps, hook) for steps, hook in due if steps is not None),
            key=lambda pair: pair[0],
            default=(None, None),
        )

    def _within_time(self, steps: int | None) -> int:
        if self._secs_per_step is None:
            most = _FIRST_LOOP_STEPS
        else:
            most = max(1, int(_LONGEST_CALL_SECS / self._secs_per_step))
        return most if steps is None else min(steps, most)

    def _say_size(self, due: int | None, holder: Any) -> None:
        if self._said_size:
            return
        self._said_size = True
        if due is not None and (self._limit is None or due <= self._limit):
            _LOG.info(
                "Up to %d training steps run in one session call; the hook %s sees the next.",
                due,
                type(holder).__name__,
            )
        else:
            most = self._limit or "an unlimited number of"
            _LOG.info("Up to %s training steps run in one session call.", most)

    def _say_remainder(self, due: int | None, holder: Any) -> None:
        """Says once that steps_per_loop does not divide the steps between two that a hook sees."""
        before, self._due_before = self._due_before, due
        limit = self._limit
        if self._said_remainder or limit is None or due is None or due <= limit:
            return
        if before is not None and before <= limit:  # A step was seen just now.
            self._said_remainder = True
            if due % limit:
                _LOG.info(
                    "steps_per_loop=%d does not divide the %d steps from one that %s must see to "
                    "the next; the last session call before it runs %d.",
                    limit,
                    due,
                    type(holder).__name__,
                    due % limit,
                )
