"""TensorFlow's hooks: how a CheckpointSaverHook saves, and where a StopAtStepHook stops.

Also the writer of events that they share.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf


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
