"""The checkpoints of a training: what writes them, when, and what is written with them."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints.async_saver import AsyncSaver, saver_hooks
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule, WaitingListener
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_position import SavePositionWithChief, TellOfSaves
from estimator_train.engine.distributed.ps_save_pacing import pace_saves
from estimator_train.engine.graph.step_graph import Step
from estimator_train.engine.hook_types import Listener, SaverHook
from estimator_train.engine.inputs.position import InputPosition, saved_position
from estimator_train.engine.inputs.position_hooks import SavePosition
from estimator_train.run_config import RunConfig


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
      schedule: When they are written, if their intervals alone do not decide it, and this process
        writes them; else None.
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
        listeners: Sequence[Listener],
    ) -> None:
        config = context.config
        scaffold = step.spec.scaffold
        _add_saver(context, scaffold, strategy)
        # Values on other machines would come here to be copied, and go back to be written.
        beside = config.checkpoint_mode == "async" and not config.master
        users_savers = _users_savers(step, callers_hooks)
        self.saver = AsyncSaver(scaffold, beside, config.checkpoint_save_graph_def)
        self.position: InputPosition | None = None
        if config.save_input_position:
            self.position = saved_position(context, step.inputs, input_fn, users_savers)
        self.schedule: SaveSchedule | None = None
        self.hooks: list[Any] = []
        self._listeners = [*listeners, *_position_listeners(self.position, context)]
        if users_savers:
            tf_internals.add_listeners(users_savers[0], self._listeners)
            if config.is_chief:
                self._decide(users_savers, config)
        elif config.save_checkpoints_secs or config.save_checkpoints_steps:
            if config.is_chief:
                self._save_as_configured(context)
        elif self._listeners:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )

    def _save_as_configured(self, context: EstimatorContext) -> None:
        config = context.config
        hook, failed = saver_hooks(
            self.saver,
            self._listeners,
            context.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
        )
        self._decide([hook], config)
        if self.schedule is not None and context.topology.input_context is not None:
            pace_saves(hook, self.schedule, context)
        self.hooks += [hook, failed]

    def _decide(self, savers: list[Any], config: RunConfig) -> None:
        """Has more than their intervals decide when saver hooks save, if there is more."""
        if config.master or any(isinstance(one, WaitingListener) for one in self._listeners):
            self.schedule = SaveSchedule(savers, self._listeners)
            self.hooks = [self.schedule]


def _position_listeners(
    position: InputPosition | None, context: EstimatorContext
) -> list[Listener]:
    """What saves the position in the input with the chief's checkpoints.

    An asynchronous worker that is not the chief gets a hook instead.
    """
    if position is None:
        return []
    if context.topology.input_context is None:
        return [SavePosition(position)]
    if context.config.is_chief:
        return [TellOfSaves(), SavePosition(position)]
    position.saving_hooks.append(SavePositionWithChief(position))
    return []


def _users_savers(step: Step, callers_hooks: Sequence[Any]) -> list[SaverHook]:
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
    if context.topology.is_synchronous:
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
