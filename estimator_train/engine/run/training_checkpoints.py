"""The checkpoints of a training: the Saver, the hooks that call it, and their schedule."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.async_saver import AsyncSaver
from estimator_train.engine.checkpoints.interim_copies import InterimCopyHook
from estimator_train.engine.checkpoints.save_schedule import CheckpointStepsListener, SaveSchedule
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.inputs.position_hooks import PositionTracking, track_position
from estimator_train.engine.job import Job
from estimator_train.engine.loops.training_loop import WorkerCoordinator
from estimator_train.engine.run.history import make_goodput_hook
from estimator_train.engine.tf_internals import saver_entries, tf_hooks
from estimator_train.engine.types import (
    Hook,
    InputFn,
    Listener,
    PassiveHook,
    RunContext,
    RunValues,
    SaverHook,
    Strategy,
)
from estimator_train.run_config import RunConfig


class TrainingCheckpoints:
    """Checkpoints of a training; constructed in its graph, after model_fn was called.

    A saver hook of the user's replaces the one that RunConfig asks for.

    Args:
      job: The call of `train`.
      step: The training step.
      strategy: The strategy that the step was built under, or None.
      coordinator: Has the results of the workers' votes, if they vote.
      input_fn: The user's input_fn, for messages.
      callers_hooks: Hooks of the caller.
      listeners: Listeners of the checkpoints.

    Attributes:
      goodput: Hook that records the goodput, also after each save.
      saver: Saver that writes the checkpoints, in a thread if RunConfig sets it.
      position: Hooks that restore and save the position in the input; None if it is not saved.
      schedule: Schedule of the checkpoints; None if the intervals of the hooks alone decide, or if
        this process writes no checkpoints.
      hooks: Hooks that write the checkpoints.

    Raises:
      ValueError: There are listeners, but no hook that saves.
    """

    def __init__(
        self,
        job: Job,
        step: Step,
        strategy: Strategy | None,
        coordinator: WorkerCoordinator,
        input_fn: InputFn,
        callers_hooks: Sequence[Hook],
        listeners: Sequence[Listener],
    ) -> None:
        config = job.config
        scaffold = step.spec.scaffold
        _add_saver(job, scaffold, strategy)
        # Values on other machines would be copied to this one, and back to be written.
        asynchronous = config.checkpoint_mode == "async" and not config.master
        users_savers = _find_saver_hooks(step, callers_hooks)
        self.goodput = make_goodput_hook(job, step.spec.train_op)
        self.saver = AsyncSaver(
            scaffold,
            asynchronous,
            config.checkpoint_save_graph_def,
            self.goodput.record_save,
            saves_interim_copy=bool(listeners),
        )
        self.position: PositionTracking | None = None
        if config.save_input_position:
            self.position = track_position(job, step.inputs, input_fn, users_savers, coordinator)
        self.schedule: SaveSchedule | None = None
        self.hooks: list[Hook] = []
        self._coordinator = coordinator
        # A listener of the user may save what the program needs to continue from a checkpoint.
        self._has_users_listeners = not all(map(_is_own, listeners))
        self._listeners = [*listeners, *(self.position.listeners if self.position else ())]
        if users_savers:
            tf_hooks.add_listeners(users_savers[0], self._listeners)
            if config.is_chief:
                self._schedule_saves(users_savers, config)
        elif config.save_checkpoints_secs or config.save_checkpoints_steps:
            if config.is_chief:
                self._save_as_configured(job)
        elif self._listeners:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )

    def set_restored(self, path: str | None, is_interim: bool) -> None:
        """Stores what a new session restored.

        Args:
          path: The latest checkpoint, or None.
          is_interim: Whether the session restored a copy of a later step in its place.
        """
        self.saver.set_restored(path, is_interim)
        self.goodput.set_restored(is_interim)

    def _save_as_configured(self, job: Job) -> None:
        config = job.config
        tf_hooks.open_event_writer(job.model_dir)
        hook = SaverHook(
            job.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            listeners=[WaitForWriteListener(self.saver, self._listeners), *self._listeners],
            save_graph_def=False,  # AsyncSaver writes the graph.
            saver=self.saver,
        )
        self._schedule_saves([hook], config)
        if self.schedule is not None:
            job.together.pace_saves(hook, self.schedule)
        self.hooks += [hook, FailedWriteHook(self.saver)]
        # The values on parameter servers change while they are copied. A position in the input
        # exists for checkpoints alone.
        needs_checkpoint = (
            job.together.shares_variables or self._has_users_listeners or config.save_input_position
        )
        if self.saver.has_memory and not needs_checkpoint:
            self.hooks.append(InterimCopyHook(self.saver, hook))

    def _schedule_saves(self, savers: Sequence[SaverHook], config: RunConfig) -> None:
        """Adds a schedule if more than the intervals of the saver hooks decides when they save."""
        if config.master or any(
            isinstance(one, CheckpointStepsListener) for one in self._listeners
        ):
            self.schedule = SaveSchedule(savers, self._listeners)
            self._coordinator.control_saves(savers, self.schedule.is_due_after_next)
            self.hooks = [self.schedule]


class WaitForWriteListener(Listener):
    """Listener that waits for the end of a write before other listeners read the checkpoint.

    It comes first. It calls the method `needs_checkpoint(global_step)` of a listener, if there is
    one; without it a listener that overrides `after_save` needs each checkpoint.

    Args:
      saver: The saver that writes the checkpoints.
      listeners: The other listeners.
    """

    def __init__(self, saver: AsyncSaver, listeners: Sequence[Listener]) -> None:
        self._saver, self._listeners = saver, listeners

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Waits for the write if a listener needs it."""
        if any(_needs_checkpoint(listener, global_step_value) for listener in self._listeners):
            self._saver.wait()

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Waits for the last write."""
        self._saver.wait()


class FailedWriteHook(PassiveHook):
    """Hook that stops training when a checkpoint could not be written."""

    def __init__(self, saver: AsyncSaver) -> None:
        self._saver = saver

    def after_loop(self, steps: int, loss: object) -> None:
        """Raises the error of the last write, if it failed."""
        self._saver.raise_error()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Raises the error of the last write, if it failed."""
        self._saver.raise_error()


def _is_own(listener: Listener) -> bool:
    """Returns whether a listener is one of this project."""
    return type(listener).__module__.partition(".")[0] in ("estimator_train", "tf_contrib")


def _find_saver_hooks(step: Step, callers_hooks: Sequence[Hook]) -> list[SaverHook]:
    hooks = (*callers_hooks, *step.spec.training_chief_hooks, *step.spec.training_hooks)
    return [hook for hook in hooks if isinstance(hook, tf.compat.v1.train.CheckpointSaverHook)]


def _add_saver(job: Job, scaffold: tf.compat.v1.train.Scaffold, strategy: Any) -> None:
    """Adds a Saver that keeps as many checkpoints as configured, unless the user made one."""
    savers = tf.compat.v1.GraphKeys.SAVERS
    if scaffold.saver or tf.compat.v1.get_collection(savers):
        return
    own_values = job.together.list_saved_values(strategy)
    saver = tf.compat.v1.train.Saver(
        own_values,
        sharded=True,
        builder=saver_entries.RestoreByParts(),
        max_to_keep=job.config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=job.config.keep_checkpoint_every_n_hours,
        defer_build=own_values is None,
        save_relative_paths=True,
    )
    tf.compat.v1.add_to_collection(savers, saver)


def _needs_checkpoint(listener: Listener, global_step: int) -> bool:
    needs_checkpoint = getattr(listener, "needs_checkpoint", None)
    if needs_checkpoint is not None:
        return bool(needs_checkpoint(global_step))
    return getattr(listener.after_save, "__func__", None) is not Listener.after_save
