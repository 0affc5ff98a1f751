"""When hooks of TensorFlow, trackers and tuners must see a step, and how they count other steps.

Why internal: the timers and counters of these hooks are private attributes. TensorFlow measures
their seconds, and those of Savers, by the time of day: after the clock is set back, no checkpoint
would be due until it has caught up. They get a clock that nobody sets back.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import tensorflow as tf

_train = tf.compat.v1.train
# A hook of TensorFlow, whose private attributes are read: they have no types.
_TensorFlowHook: TypeAlias = Any
_NEXT_STEP = 1
# Smaller changes are corrections of a synchronized clock.
_MIN_JUMP_SECS = 1.0


class SteadyTimer(tf.compat.v1.train.SecondOrStepTimer):
    """Timer of a hook that counts its seconds by `time.monotonic`."""

    _last_triggered_time: Any

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns whether the interval has passed since the last trigger."""
        if self._every_secs is None or self._last_triggered_step in (None, step):
            return bool(super().should_trigger_for_step(step))
        return bool(time.monotonic() - self._last_triggered_time >= self._every_secs)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Records a trigger; returns the seconds and the steps since the one before."""
        before = self._last_triggered_time
        # An integer of NumPy 2 cannot be added to an interval of 2**63 steps and more.
        _, steps = super().update_last_triggered_step(int(step))
        self._last_triggered_time = now = time.monotonic()
        return (None if before is None else now - before), steps


def make_timers_steady(hooks: Iterable[tf.compat.v1.train.SessionRunHook]) -> None:
    """Makes the timers of hooks independent of changes of the clock.

    Args:
      hooks: The hooks, before there is a session. A timer of the user's own class stays as it is.
    """
    for hook in hooks:
        for timer in getattr(hook, "__dict__", {}).values():
            if type(timer) is tf.compat.v1.train.SecondOrStepTimer:
                _make_steady(timer)


def _make_steady(timer: tf.compat.v1.train.SecondOrStepTimer) -> None:
    if timer._last_triggered_time is not None:
        timer._last_triggered_time += time.monotonic() - time.time()
    timer.__class__ = SteadyTimer


class SteadySaver:
    """Keeps `keep_checkpoint_every_n_hours` of a Saver independent of changes of the clock."""

    def __init__(self) -> None:
        self._offset = _read_offset()

    def adjust(self, saver: tf.compat.v1.train.Saver) -> None:
        """Moves the times that a Saver holds by the jump of the clock since the last call.

        Args:
          saver: The Saver, before it writes a checkpoint.
        """
        jump = _read_offset() - self._offset
        if abs(jump) < _MIN_JUMP_SECS:
            return
        self._offset += jump
        saver._next_checkpoint_time += jump
        for checkpoints in (saver._last_checkpoints, saver._checkpoints_to_be_deleted):
            checkpoints[:] = [(path, secs + jump) for path, secs in checkpoints]


def _read_offset() -> float:
    """Returns the time of day less that of the steady clock, in seconds."""
    return time.time() - time.monotonic()


def find_timer_due(timer: object, position: int) -> int | None:
    """Returns the steps from `position` to the one at which a SecondOrStepTimer triggers."""
    if isinstance(timer, _train.SecondOrStepTimer):
        if timer._last_triggered_step is None:
            return _NEXT_STEP
        if timer._every_steps is not None:
            return timer._last_triggered_step + timer._every_steps - position
        now = time.monotonic() if isinstance(timer, SteadyTimer) else time.time()
        passed = now - timer._last_triggered_time
        return _NEXT_STEP if passed >= timer._every_secs else None
    return None  # Without steps and seconds the timer never triggers.


def _find_saver_due(hook: _TensorFlowHook, global_step: int) -> int | None:
    return find_timer_due(hook._timer, global_step)


def _find_summary_due(hook: _TensorFlowHook, global_step: int) -> int | None:
    if hook._next_step is None:  # The hook has not seen a step yet.
        return _NEXT_STEP
    return find_timer_due(hook._timer, global_step)


def _find_logging_due(hook: _TensorFlowHook, global_step: int) -> int | None:
    del global_step  # The hook counts the runs that it saw, and decides before each to log or not.
    steps = find_timer_due(hook._timer, hook._iter_count)
    by_steps = getattr(hook._timer, "_every_steps", None) is not None
    first = getattr(hook._timer, "_last_triggered_step", None) is None
    return steps if steps is None or first or not by_steps else steps + 1


def _stop_due(hook: _TensorFlowHook, global_step: int) -> int | None:
    return hook._last_step - global_step


# Steps up to and including the next one that a hook must see; None for no step.
DUE: dict[type, Callable[[Any, int], int | None]] = {
    _train.CheckpointSaverHook: _find_saver_due,
    _train.StepCounterHook: _find_saver_due,
    _train.SummarySaverHook: _find_summary_due,
    _train.ProfilerHook: _find_summary_due,
    _train.LoggingTensorHook: _find_logging_due,
    _train.StopAtStepHook: _stop_due,
}


def _skip_summary(hook: _TensorFlowHook, global_step: int, steps: int, loss: object) -> None:
    del steps, loss
    hook._next_step = global_step + 1


def _skip_logging(hook: _TensorFlowHook, global_step: int, steps: int, loss: object) -> None:
    del global_step, loss
    hook._iter_count += steps


# Calls with the hook, the global step after a loop, its number of steps, and its last loss.
AFTER_LOOP: dict[type | None, Callable[[Any, int, int, Any], bool | None]] = {
    _train.SummarySaverHook: _skip_summary,
    _train.ProfilerHook: _skip_summary,
    _train.LoggingTensorHook: _skip_logging,
}


def _find_wandb_due(hook: Any, global_step: int) -> int:
    """Returns the steps to the next multiple of the interval."""
    interval = getattr(hook, "_steps_per_log", None)
    return -global_step % interval + 1 if interval else _NEXT_STEP


def _find_optuna_due(hook: Any, global_step: int) -> int | None:
    timer = getattr(hook, "_timer", None)
    return find_timer_due(timer, global_step - 1) if timer is not None else _NEXT_STEP


# The hooks of other packages, by package and class. Each was observed: it reads the global step
# before the step that it sees.
FOREIGN_DUE: dict[tuple[str, str], Callable[[Any, int], int | None]] = {
    ("wandb", "WandbHook"): _find_wandb_due,
    ("optuna", "TensorFlowPruningHook"): _find_optuna_due,
    ("optuna_integration", "TensorFlowPruningHook"): _find_optuna_due,
}
