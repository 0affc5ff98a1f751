"""How many steps may run before a hook must see one, so that those steps can run in a loop.

A user's hook declares its steps with two methods: `steps_until_due(global_step)` returns the number
of steps up to and including the next one that it must see (None: no step), and the optional
`after_loop(steps, loss)` is called after steps that it did not see; it returns True to stop
training. A hook that overrides neither `before_run` nor `after_run` need not see any step.

TensorFlow's hooks have no such methods: `tf_hooks` reads their timers, and sets them after a
loop; it also reads the intervals of the hooks of known trackers and tuners. Any other hook must see
every step. A subclass of one of TensorFlow's hooks with a true `keeps_cadence` has the cadence of
that hook, whichever methods it overrides.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.types import Hook, Loss, RunContext, RunValues

_train = tf.compat.v1.train
_NEXT = 1
_STEP_METHODS = ("before_run", "after_run")
# The class of TensorFlow whose cadence each class of hooks has: read before every loop.
_known_classes: dict[type, type | None] = {}
_LOG = tf.get_logger()
# Nothing interrupts a session call, and no hook with a clock sees it: it is kept short.
_MAX_CALL_SECS = 1.0
_FIRST_LOOP_STEPS = 10


def sees_every_step(hook: Hook) -> bool:
    """Returns whether `hook` must see every step."""
    return not hasattr(hook, "steps_until_due") and _find_known_class(hook) is None


def steps_until_due(hook: Hook, global_step: int) -> int | None:
    """Returns the steps up to and including the next one that `hook` must see; None for no step.

    Args:
      hook: A SessionRunHook in a running session.
      global_step: The global step now.
    """
    method = getattr(hook, "steps_until_due", None)
    if method is not None:
        steps = method(global_step)
    else:
        known = _find_known_class(hook)
        steps = _NEXT if known is None else _find_due(known)(hook, global_step)
    return None if steps is None else max(_NEXT, steps)


def after_loop(hook: Hook, global_step: int, steps: int, loss: Loss) -> bool:
    """Notifies `hook` of steps that it did not see.

    Args:
      hook: A SessionRunHook in a running session.
      global_step: The global step after them.
      steps: Number of these steps.
      loss: The loss of the last step, a NumPy scalar.

    Returns:
      Whether the hook requests the end of training.
    """
    method = getattr(hook, "after_loop", None)
    if method is not None:
        return bool(method(steps, loss))
    skip = _AFTER_LOOP.get(_find_known_class(hook))
    return skip is not None and bool(skip(hook, global_step, steps, loss))


def _find_known_class(hook: Hook) -> type | None:
    """Returns the known class whose cadence `hook` has; None for an unknown cadence."""
    if any(name in getattr(hook, "__dict__", ()) for name in _STEP_METHODS):
        return None  # A program replaced a method on the instance.
    kind = type(hook)
    if kind not in _known_classes:
        foreign = (base for base in kind.__mro__ if _find_foreign_due(base))
        found = (known for known in (*foreign, *_DUE) if _keeps_cadence(kind, known))
        _known_classes[kind] = next(found, None)
    return _known_classes[kind]


def _find_foreign_due(kind: type) -> Callable[[Any, int], int | None] | None:
    key = (kind.__module__.partition(".")[0], kind.__name__)
    return tf_hooks.FOREIGN_DUE.get(key)


def _find_due(known: type) -> Callable[[Any, int], int | None]:
    return _find_foreign_due(known) or _DUE[known]


def _keeps_cadence(kind: type, known: type) -> bool:
    same = all(getattr(kind, name, None) is getattr(known, name) for name in _STEP_METHODS)
    return issubclass(kind, known) and (same or _declares_cadence(kind, known))


def _declares_cadence(kind: type, known: type) -> bool:
    return known is not Hook and getattr(kind, "keeps_cadence", False)


def _return_none(hook: Hook, global_step: int) -> None:
    del hook, global_step


_DUE: dict[type, Callable[[Any, int], int | None]] = {
    **tf_hooks.DUE,
    _train.NanTensorHook: _return_none,
    _train.FinalOpsHook: _return_none,
    _train.GlobalStepWaiterHook: _return_none,
    Hook: _return_none,  # Last, because every hook is a subclass.
}


def _run_nan_hook(hook: Hook, global_step: int, steps: int, loss: Loss) -> bool:
    del global_step, steps
    values = RunValues(results=loss, options=None, run_metadata=None)
    context = RunContext(original_args=None, session=None)
    hook.after_run(context, values)
    return context.stop_requested


_AFTER_LOOP: dict[type | None, Callable[[Any, int, int, Any], bool | None]] = {
    **tf_hooks.AFTER_LOOP,
    _train.NanTensorHook: _run_nan_hook,
}


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
            due = steps_until_due(hook, global_step)
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
