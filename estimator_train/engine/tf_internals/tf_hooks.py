"""Hooks of TensorFlow, trackers and tuners: how they save, stop, and count and read steps.

Also the writer of events that they share. The timers and counters of these hooks are private
attributes. TensorFlow measures their seconds, and those of Savers, by the time of day: after the
clock is set back, no checkpoint would be due until it has caught up. They get a clock that nobody
sets back.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

# Why internal: TensorFlow's hooks all fetch one cached read of the global step, and only this
# function gives it (see `read_step_before_increment`).
from tensorflow.python.training.training_util import (
    GLOBAL_STEP_READ_KEY,
    _get_or_create_global_step_read,
)

from estimator_train.engine.tf_internals.graphs import run_after, walk

_ASSIGNMENTS = ("AssignAddVariableOp", "AssignVariableOp", "AssignAdd", "Assign")
_train = tf.compat.v1.train
# A hook of TensorFlow, whose private attributes are read: they have no types.
_TensorFlowHook: TypeAlias = Any
_NEXT_STEP = 1
# Smaller changes are corrections of a synchronized clock.
_MIN_JUMP_SECS = 1.0


def find_saving_prefix(hook: tf.compat.v1.train.CheckpointSaverHook) -> str:
    """Returns the path prefix of a saver hook's checkpoints, without the step.

    Why internal: the arguments of the hook are private.
    """
    return hook._save_path


def add_listeners(
    hook: tf.compat.v1.train.CheckpointSaverHook,
    listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
    first: bool = False,
) -> None:
    """Adds listeners to a saver hook.

    Why internal: a CheckpointSaverHook accepts listeners only in its constructor.

    Args:
      hook: The hook, before there is a session.
      listeners: The listeners.
      first: Whether the new listeners come before those of the hook.
    """
    at = 0 if first else len(hook._listeners)
    hook._listeners[at:at] = listeners


def save_now(
    hook: tf.compat.v1.train.CheckpointSaverHook, session: tf.compat.v1.Session, step: int
) -> bool:
    """Writes a checkpoint with a saver hook, in addition to those of its timer.

    Why internal: a CheckpointSaverHook saves only when its own timer says so.

    Args:
      hook: The hook, in a running session, before it sees this step itself.
      session: The raw session.
      step: The global step now.

    Returns:
      Whether a listener asks for training to stop.
    """
    if hook._timer.should_trigger_for_step(step):
        count_as_saved(hook, step)
    return bool(hook._save(session, step))


def save_only_when(
    hook: tf.compat.v1.train.CheckpointSaverHook, is_agreed: Callable[[], bool]
) -> None:
    """Makes a saver hook save only if a function agrees, except at the start of a session.

    Why internal: a CheckpointSaverHook creates its timer.

    Args:
      hook: The hook, before there is a session.
      is_agreed: Returns whether a checkpoint may be written after the last step.
    """
    is_due = hook._timer.should_trigger_for_step
    hook._timer.should_trigger_for_step = lambda step: is_agreed() and is_due(step)


def set_interval(
    hook: tf.compat.v1.train.CheckpointSaverHook,
    *,
    steps: int | None = None,
    secs: float | None = None,
) -> None:
    """Changes how long after its last checkpoint a saver hook writes the next.

    Why internal: the interval of a CheckpointSaverHook is in its private timer.

    Args:
      hook: The hook.
      steps: Number of steps; None for a hook that counts seconds.
      secs: Number of seconds; None for a hook that counts steps.
    """
    hook._timer._every_steps, hook._timer._every_secs = steps, secs


def count_as_saved(hook: tf.compat.v1.train.CheckpointSaverHook, step: int) -> None:
    """Marks a step as saved, so that a saver hook writes no checkpoint for it.

    Why internal: the last saved step is in the private timer of the hook.
    """
    hook._timer.update_last_triggered_step(step)


def count_as_saved_before(
    hook: tf.compat.v1.train.CheckpointSaverHook, step: int, secs: float
) -> None:
    """Makes a saver hook count its interval from an earlier step and time.

    Why internal: the last saved step and its time are in the private timer of the hook.

    Args:
      hook: The hook.
      step: Global step of the last checkpoint.
      secs: Time of the last checkpoint, in seconds of `time.monotonic`.
    """
    hook._timer._last_triggered_step, hook._timer._last_triggered_time = step, secs


def find_last_step(hook: tf.compat.v1.train.StopAtStepHook) -> int | None:
    """Returns the step at which a hook stops, once its session is open.

    Why internal: the hook computes its last step from the first one, and keeps it private.
    """
    return hook._last_step


def open_event_writer(directory: str) -> None:
    """Opens the event file of a directory that hooks write to, unless it is open.

    Why internal: `FileWriterCache.get`, which hooks call before the graph is complete, writes the
    graph to a new file, and a CheckpointSaverHook writes it again when it is complete. TensorBoard
    then shows the one or the other.

    Args:
      directory: Path of the directory, as the hooks name it.
    """
    cache = tf.compat.v1.summary.FileWriterCache
    with cache._lock:
        if directory not in cache._cache:
            cache._cache[directory] = tf.compat.v1.summary.FileWriter(directory)


def find_global_step_read() -> tf.Tensor:
    """Returns the read of the global step that TensorFlow's hooks fetch with a step.

    Why internal: only this read is ordered before the step's increment (see below).
    """
    return _get_or_create_global_step_read()


def read_step_before_increment(
    global_step: tf.Variable, train_op: tf.Operation | tf.Tensor
) -> tf.Tensor:
    """Returns a read of the global step that runs before the training step increments it.

    TensorFlow's hooks expect the value before the step, but nothing orders the read and the
    increment of one session call: a small model sometimes fetches the value after it, and a hook
    fires one step off. Only assignments that the training step runs are ordered: an object-based
    saver restores the global step by another assignment, when there is nothing to read yet.

    Why internal: only a private method says whether an assignment is in control flow.

    Args:
      global_step: The global step of the default graph, after model_fn was called.
      train_op: The operation of the training step.

    Returns:
      The int64 scalar tensor that hooks fetch.
    """
    primary = getattr(global_step, "values", (global_step,))[0]
    if primary is not global_step:
        # Its own read would have the variable's initializer as an alternative, and with it, under
        # strategies of several workers, a collective in whatever session call reads the step.
        graph = tf.compat.v1.get_default_graph()
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, primary.read_value())
    read = _get_or_create_global_step_read()
    of_step = set(walk([getattr(train_op, "op", train_op)]))
    for operation in primary.op.outputs[0].consumers():
        in_control_flow = operation._get_control_flow_context() is not None
        if operation.type in _ASSIGNMENTS and operation in of_step and not in_control_flow:
            run_after(operation, read.op)
    return read


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
