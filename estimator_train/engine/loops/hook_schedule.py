"""How many steps may pass before a hook must see one, so that the steps between can run in a loop.

A hook of one's own takes part by two members: `steps_until_due(global_step)`, the steps up to and
with the next one that it must see (None: it does not care), and optionally `after_loop(steps,
loss)`, called when steps ran that it did not see; it returns True to stop training. TensorFlow's
hooks know nothing of loops; what their timers hold is read, and set right after a loop, in the
tables below. Any other hook must see every step.

A class with a true `keeps_cadence` that is made from one of TensorFlow's has that one's cadence,
whatever else it changed.
"""

import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_train.engine.hook_types import RunContext, RunValues, SaverHook

_train = tf.compat.v1.train
_NEXT = 1
# They are looked for once for each class of hooks: they are asked for before every loop.
_known_classes: dict[type, type | None] = {}


def sees_every_step(hook: Any) -> bool:
    """Whether nothing is known of when `hook` must see a step."""
    return not hasattr(hook, "steps_until_due") and _known_class(hook) is None


def steps_until_due(hook: Any, global_step: int) -> int | None:
    """Steps up to and with the next one that `hook` must see; None if it need not see any.

    Args:
      hook: A SessionRunHook in a running session.
      global_step: The global step now.
    """
    own = getattr(hook, "steps_until_due", None)
    if own is not None:
        steps = own(global_step)
    else:
        known = _known_class(hook)
        steps = _NEXT if known is None else _DUE[known](hook, global_step)
    return None if steps is None else max(_NEXT, steps)


def after_loop(hook: Any, global_step: int, steps: int, loss: Any) -> bool:
    """Tells `hook` that steps ran which it did not see.

    Args:
      hook: A SessionRunHook in a running session.
      global_step: The global step after them.
      steps: How many they were.
      loss: The loss of the last of them.

    Returns:
      Whether the hook asks for training to stop.
    """
    own = getattr(hook, "after_loop", None)
    if own is not None:
        return bool(own(steps, loss))
    skip = _AFTER_LOOP.get(_known_class(hook))
    return skip is not None and bool(skip(hook, global_step, steps, loss))


def _known_class(hook: Any) -> type | None:
    """The TensorFlow class whose cadence `hook` has; None if it changed what decides on it."""
    kind = type(hook)
    if kind not in _known_classes:
        found = (known for known in _DUE if _keeps_cadence(kind, known))
        _known_classes[kind] = next(found, None)
    return _known_classes[kind]


def _keeps_cadence(kind: type, known: type) -> bool:
    methods = ("before_run", "after_run")
    same = all(getattr(kind, name, None) is getattr(known, name) for name in methods)
    return issubclass(kind, known) and (same or getattr(kind, "keeps_cadence", False))


def _timer_due(timer: Any, position: int) -> int | None:
    """Steps from `position` to the one at which a SecondOrStepTimer triggers."""
    if isinstance(timer, _train.SecondOrStepTimer):
        if timer._last_triggered_step is None:
            return _NEXT
        if timer._every_steps is not None:
            return timer._last_triggered_step + timer._every_steps - position
        passed = time.time() - timer._last_triggered_time
        return _NEXT if passed >= timer._every_secs else None
    return None  # The timer of a hook that has neither steps nor seconds never triggers.


def _saver_due(hook: Any, global_step: int) -> int | None:
    return _timer_due(hook._timer, global_step)


def _summary_due(hook: Any, global_step: int) -> int | None:
    if hook._next_step is None:  # It has not seen its first step.
        return _NEXT
    return _timer_due(hook._timer, global_step)


def _logging_due(hook: Any, global_step: int) -> int | None:
    del global_step  # It counts the runs that it saw, and decides before each whether it logs.
    steps = _timer_due(hook._timer, hook._iter_count)
    by_steps = getattr(hook._timer, "_every_steps", None) is not None
    first = getattr(hook._timer, "_last_triggered_step", None) is None
    return steps if steps is None or first or not by_steps else steps + 1


def _stop_due(hook: Any, global_step: int) -> int | None:
    return hook._last_step - global_step


def _never_due(hook: Any, global_step: int) -> None:
    del hook, global_step


_DUE: dict[type, Callable[[Any, int], int | None]] = {
    SaverHook: _saver_due,
    _train.StepCounterHook: _saver_due,
    _train.SummarySaverHook: _summary_due,
    _train.ProfilerHook: _summary_due,
    _train.NanTensorHook: _never_due,
    _train.LoggingTensorHook: _logging_due,
    _train.StopAtStepHook: _stop_due,
    _train.FinalOpsHook: _never_due,
    _train.GlobalStepWaiterHook: _never_due,
}


def _summary_after_loop(hook: Any, global_step: int, steps: int, loss: Any) -> None:
    del steps, loss
    hook._next_step = global_step + 1


def _logging_after_loop(hook: Any, global_step: int, steps: int, loss: Any) -> None:
    del global_step, loss
    hook._iter_count += steps


def _nan_after_loop(hook: Any, global_step: int, steps: int, loss: Any) -> bool:
    del global_step, steps
    values = RunValues(results=loss, options=None, run_metadata=None)
    context = RunContext(original_args=None, session=None)
    hook.after_run(context, values)
    return context.stop_requested


_AFTER_LOOP: dict[type | None, Callable[[Any, int, int, Any], bool | None]] = {
    _train.SummarySaverHook: _summary_after_loop,
    _train.ProfilerHook: _summary_after_loop,
    _train.LoggingTensorHook: _logging_after_loop,
    _train.NanTensorHook: _nan_after_loop,
}
