"""The checkpoints of a training: what writes them, when, and what is written with them."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.async_saver import (
    AsyncSaver,
    FailedWriteHook,
    SettledSaves,
)
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_position import SavePositionWithChief, TellOfSaves
from estimator_train.engine.distributed.ps_save_pacing import pace_saves
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.inputs.position import saved_position
from estimator_train.engine.inputs.position_hooks import SavePosition
from estimator_train.engine.inputs.sharding import trains_beside_others
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import is_synchronous

_SaverHook: TypeAlias = tf.compat.v1.train.CheckpointSaverHook
_Listener: TypeAlias = tf.compat.v1.train.CheckpointSaverListener


class TrainingCheckpoints:
    """What a training saves; made in its graph, once model_fn has been called.

    A saver hook of the user's takes the place of the one that RunConfig asks for.

    Args:
      context: The estimator that is trained.
      step: The training step.
      strategy: The strategy that it was built under, or None.
      input_fn: The user's input_fn, for messages.
      callers_hooks: Hooks of the caller.
      listeners: Listeners of the checkpoints.

    Attributes:
      saver: Writes the checkpoints, in a thread where that is asked for.
      position: The position in the input that is saved with them, or None.
      schedule: When they are written; None on a process that writes none.
      hooks: Hooks that write them.

    Raises:
      ValueError: There are listeners and nothing that saves.
    """

    def __init__(
        self,
        context: EstimatorContext,
        step: Step,
        strategy: Any,
        input_fn: Any,
        callers_hooks: Sequence[Any],
        listeners: Sequence[_Listener],
    ) -> None:
        config = context.config
        scaffold = step.spec.scaffold
        _add_saver(context, scaffold, strategy)
        # Values on other machines would come here to be copied, and go back to be written.
        beside = config.checkpoint_mode == "async" and not config.master
        users_savers = _users_savers(step, callers_hooks)
        self.saver = AsyncSaver(scaffold, beside, config.checkpoint_save_graph_def)
        self.position = saved_position(context, step.inputs, input_fn, users_savers)
        self.schedule: SaveSchedule | None = None
        self.hooks: list[Any] = []
        self._listeners = [*listeners, *_position_listeners(self.position, config)]
        if users_savers:
            self._use(users_savers, config.is_chief)
        elif config.save_checkpoints_secs or config.save_checkpoints_steps:
            if config.is_chief:
                self._save_as_configured(context)
        elif self._listeners:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )

    def _use(self, users_savers: list[_SaverHook], is_chief: bool) -> None:
        """The user's own hooks save; the listeners go to the first."""
        tf_internals.add_listeners(users_savers[0], self._listeners)
        if is_chief:
            self.schedule = SaveSchedule(users_savers, self._listeners)
            self.hooks = [self.schedule]

    def _save_as_configured(self, context: EstimatorContext) -> None:
        config = context.config
        hook = tf.compat.v1.train.CheckpointSaverHook(
            context.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            listeners=[SettledSaves(self.saver, self._listeners), *self._listeners],
            save_graph_def=False,  # The saver writes it.
            saver=self.saver,
        )
        self.schedule = SaveSchedule([hook], self._listeners)
        pace_saves(hook, self.schedule, config)
        self.hooks = [self.schedule, hook, FailedWriteHook(self.saver)]


def _position_listeners(position: Any, config: RunConfig) -> list[_Listener]:
    """What saves the position in the input with the chief's checkpoints.

    An asynchronous worker that is not the chief gets a hook instead.
    """
    if position is None:
        return []
    if not trains_beside_others(config):
        return [SavePosition(position)]
    if config.is_chief:
        return [TellOfSaves(), SavePosition(position)]
    position.saving_hooks.append(SavePositionWithChief(position))
    return []


def _users_savers(step: Step, callers_hooks: Sequence[Any]) -> list[_SaverHook]:
    hooks = (*callers_hooks, *step.spec.training_chief_hooks, *step.spec.training_hooks)
    return [hook for hook in hooks if isinstance(hook, tf.compat.v1.train.CheckpointSaverHook)]


def _add_saver(
    context: EstimatorContext, scaffold: tf.compat.v1.train.Scaffold, strategy: Any
) -> None:
    """Makes a Saver with the configuration's retention where the user made none."""
    savers = tf.compat.v1.GraphKeys.SAVERS
    if scaffold.saver or tf.compat.v1.get_collection(savers):
        return
    own_values = None
    if is_synchronous(context.config):
        with strategy.scope():
            own_values = tf_internals.entries_of_own_values()
    saver = tf.compat.v1.train.Saver(
        own_values,
        sharded=True,
        max_to_keep=context.config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=context.config.keep_checkpoint_every_n_hours,
        defer_build=own_values is None,
        save_relative_paths=True,
    )
    tf.compat.v1.add_to_collection(savers, saver)
