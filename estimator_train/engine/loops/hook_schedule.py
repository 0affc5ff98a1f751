"""How many steps may run before a hook must see one, so that those steps can run in a loop.

A user's hook declares its steps with two methods: `steps_until_due(global_step)` returns the number
of steps up to and including the next one that it must see (None: no step), and the optional
`after_loop(steps, loss)` is called after steps that it did not see; it returns True to stop
training. A hook that overrides neither `before_run` nor `after_run` need not see any step.

TensorFlow's hooks have no such methods: `hook_timers` reads their timers, and sets them after a
loop; it also reads the intervals of the hooks of known trackers and tuners. Any other hook must see
every step. A subclass of one of TensorFlow's hooks with a true `keeps_cadence` has the cadence of
that hook, whichever methods it overrides.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import Hook, Loss, RunContext, RunValues
from estimator_train.engine.tf_internals import hook_timers

_train = tf.compat.v1.train
_NEXT = 1
_STEP_METHODS = ("before_run", "after_run")
# The class of TensorFlow whose cadence each class of hooks has: read before every loop.
_known_classes: dict[type, type | None] = {}


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
    return hook_timers.FOREIGN_DUE.get(key)


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
    **hook_timers.DUE,
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
    **hook_timers.AFTER_LOOP,
    _train.NanTensorHook: _run_nan_hook,
}
