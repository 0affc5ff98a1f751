"""Hooks and listeners that restore and save the position in a training's input."""

import dataclasses
import functools
import os
from collections.abc import Sequence

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.position import NOT_SAVED, InputPosition
from estimator_train.engine.job import Job
from estimator_train.engine.loops.training_loop import WorkerCoordinator
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.together.ps_server import SharedCounter
from estimator_train.engine.types import (
    GlobalStepHook,
    Hook,
    InputFn,
    Listener,
    PassiveHook,
    RunArgs,
    RunContext,
    RunValues,
    SaverHook,
)
from estimator_train.goodput import INPUT, process_clock

_NO_STEP = -1
_LOG = tf.get_logger()


class RestorePositionHook(PassiveHook):
    """Hook that moves the input of a new session to its position at the restored checkpoint.

    It comes directly after the hook that starts the input, and before all hooks that save.
    """

    def __init__(self, position: InputPosition) -> None:
        self._position = position
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Moves the input."""
        del coord
        with process_clock.spend(INPUT):
            self._position.restore(session, int(session.run(self._global_step)))


class SavePositionListener(Listener):
    """Listener that saves the position with each checkpoint of its saver hook."""

    def __init__(self, position: InputPosition) -> None:
        self._position = position

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Writes the position."""
        self._position.write(session, global_step_value)

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Removes the position if the input has ended."""
        self._position.remove_at_end(session, global_step_value)


class SaveWorkerPositionHook(GlobalStepHook):
    """Hook that saves a worker's position at the steps of the chief's checkpoints.

    Args:
      position: The worker's position.
      coordinator: Has the results of the workers' votes, if they vote.
      every_steps: Steps from one checkpoint to the next, for workers that do not vote.
    """

    def __init__(
        self, position: InputPosition, coordinator: WorkerCoordinator, every_steps: int = 0
    ) -> None:
        self._position, self._coordinator, self._every = position, coordinator, every_steps
        self._global_step = tf.compat.v1.train.get_global_step()
        self._saved = 0

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Saves the first position, as the chief saves its first checkpoint."""
        del coord
        self._write(session, int(session.run(self._global_step)))

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the steps up to the chief's next checkpoint; None if the votes announce it."""
        is_voted = self._coordinator.chief_saves is not None
        return None if is_voted else self._saved + self._every - global_step

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves the position if the chief saves a checkpoint after this step."""
        step = int(run_values.results) + 1
        saves = self._coordinator.chief_saves
        if saves is None:
            saves = step >= self._saved + self._every
        if saves:
            self._write(run_context.session, step)

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last position, as the chief saves the last checkpoint."""
        step = int(session.run(self._global_step))
        if step != self._saved:
            self._write(session, step)
        self._position.remove_at_end(session, step)

    def _write(self, session: tf.compat.v1.Session, step: int) -> None:
        self._position.write(session, step)
        self._saved = step


class AnnounceSavesListener(Listener):
    """Listener by which the chief announces the step of each checkpoint."""

    def begin(self) -> None:
        """Adds the announcement to the graph."""
        self._saved_step = _make_saved_step_counter()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Announces the step."""
        self._saved_step.set(session, global_step_value)


class SaveWithChiefHook(PassiveHook):
    """Hook that saves a worker's input position when the chief announces a checkpoint.

    Args:
      position: The worker's position.
    """

    def __init__(self, position: InputPosition) -> None:
        self._position = position
        self._last_saved = _NO_STEP

    def begin(self) -> None:
        """Adds the read of the announcement to the graph."""
        self._saved_step = _make_saved_step_counter()

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Saves for a checkpoint that was announced before this session."""
        self._last_saved = _NO_STEP
        self._save(session, int(session.run(self._saved_step.value)))

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the announced step."""
        return RunArgs(self._saved_step.value)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Saves if the chief announced another step."""
        self._save(run_context.session, int(run_values.results))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Saves the last position, which may be the end of the input.

        A worker of a job that restarts from the same checkpoint then has nothing left to read.
        """
        step = int(session.run(self._saved_step.value))
        if step != _NO_STEP:
            self._position.write(session, step)

    def _save(self, session: tf.compat.v1.Session, step: int) -> None:
        if step not in (_NO_STEP, self._last_saved):
            self._position.write(session, step)
        self._last_saved = step


def _make_saved_step_counter() -> SharedCounter:
    """Returns the step of the chief's last checkpoint."""
    return SharedCounter("saved_step", _NO_STEP)


@dataclasses.dataclass(frozen=True)
class PositionTracking:
    """Hooks and listeners for the position of one input.

    Attributes:
      restore_hooks: Hooks that move a started input to its saved position.
      save_hooks: Hooks that save the position in a process that writes no checkpoints.
      listeners: Listeners that save the position with each checkpoint of this process.
    """

    restore_hooks: Sequence[Hook]
    save_hooks: Sequence[Hook] = ()
    listeners: Sequence[Listener] = ()


def track_position(
    job: Job,
    inputs: Inputs,
    input_fn: InputFn,
    users_savers: Sequence[SaverHook],
    coordinator: WorkerCoordinator,
) -> PositionTracking | None:
    """Returns what restores and saves an input's position; None if it cannot be saved.

    Args:
      job: The call of `train`.
      inputs: The input, in the default graph.
      input_fn: The user's input_fn, for messages.
      users_savers: Saver hooks of the user, which replace the engine's.
      coordinator: Has the results of the workers' votes, if they vote.

    Raises:
      ValueError: Synchronous workers of several replicas save by seconds.
    """
    config = job.config
    source = getattr(input_fn, "__qualname__", None) or repr(input_fn)
    reason = None
    if inputs.iterator is None:
        reason = "input_fn did not return a Dataset"
    elif users_savers:
        prefix = tf_hooks.find_saving_prefix(users_savers[0])
    elif config.save_checkpoints_steps or config.save_checkpoints_secs:
        prefix = os.path.join(job.model_dir, "model.ckpt")
    else:
        reason = "no checkpoints are saved"
    if reason:
        _LOG.warning(NOT_SAVED, source, reason)
        return None
    if job.together.shard is not None:
        return _track_asynchronous(job, inputs, prefix, source, coordinator)
    saves_by_time = config.save_checkpoints_steps is None
    if config.num_worker_replicas > 1 and saves_by_time and coordinator.chief_saves is None:
        raise ValueError(
            "RunConfig(save_input_position=True) with workers of several replicas each needs "
            "save_checkpoints_steps: by save_checkpoints_secs only the chief knows when it saves."
        )
    position = InputPosition(inputs, prefix, source, coordinator)
    save_hooks: list[Hook] = []
    if not config.is_chief:
        every = config.save_checkpoints_steps or 0
        save_hooks.append(SaveWorkerPositionHook(position, coordinator, every))
    return PositionTracking(
        [RestorePositionHook(position)], save_hooks, [SavePositionListener(position)]
    )


def _track_asynchronous(
    job: Job,
    inputs: Inputs,
    prefix: str,
    source: str,
    coordinator: WorkerCoordinator,
) -> PositionTracking:
    """Tracks the position of an asynchronous worker, which saves when the chief announces it."""
    latest = functools.partial(latest_checkpoint, job.model_dir)
    position = InputPosition(inputs, prefix, source, coordinator, latest)
    restore_hooks = [RestorePositionHook(position)]
    if job.config.is_chief:
        return PositionTracking(
            restore_hooks, listeners=[AnnounceSavesListener(), SavePositionListener(position)]
        )
    return PositionTracking(restore_hooks, save_hooks=[SaveWithChiefHook(position)])
