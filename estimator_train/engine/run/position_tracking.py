"""The hooks and listeners that restore and save the position in a training's input."""

import dataclasses
import functools
import os
from collections.abc import Sequence

import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_position import AnnounceSavesListener, SaveWithChiefHook
from estimator_train.engine.hook_types import Hook, Listener, SaverHook
from estimator_train.engine.inputs.input_fn import Inputs
from estimator_train.engine.inputs.position import NOT_SAVED, InputPosition
from estimator_train.engine.inputs.position_hooks import (
    RestorePositionHook,
    SavePositionListener,
    SaveWorkerPositionHook,
)
from estimator_train.engine.loops.coordination import WorkerAgreement
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.type_aliases import InputFn

_LOG = tf.get_logger()


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
    context: EstimatorContext,
    inputs: Inputs,
    input_fn: InputFn,
    users_savers: Sequence[SaverHook],
    agreement: WorkerAgreement,
) -> PositionTracking | None:
    """Returns what restores and saves an input's position; None if it cannot be saved.

    Args:
      context: The estimator that is trained.
      inputs: The input, in the default graph.
      input_fn: The user's input_fn, for messages.
      users_savers: Saver hooks of the user, which replace the engine's.
      agreement: Results of the workers' votes.

    Raises:
      ValueError: Synchronous workers of several replicas save by seconds.
    """
    config = context.config
    source = getattr(input_fn, "__qualname__", None) or repr(input_fn)
    reason = None
    if inputs.iterator is None:
        reason = "input_fn did not return a Dataset"
    elif users_savers:
        prefix = tf_hooks.find_saving_prefix(users_savers[0])
    elif config.save_checkpoints_steps or config.save_checkpoints_secs:
        prefix = os.path.join(context.model_dir, "model.ckpt")
    else:
        reason = "no checkpoints are saved"
    if reason:
        _LOG.warning(NOT_SAVED, source, reason)
        return None
    if context.topology.input_context is not None:
        return _track_asynchronous(context, inputs, prefix, source, agreement)
    saves_by_time = config.save_checkpoints_steps is None
    if config.num_worker_replicas > 1 and saves_by_time and agreement.chief_saves is None:
        raise ValueError(
            "RunConfig(save_input_position=True) with workers of several replicas each needs "
            "save_checkpoints_steps: by save_checkpoints_secs only the chief knows when it saves."
        )
    position = InputPosition(inputs, prefix, source, agreement)
    save_hooks: list[Hook] = []
    if not config.is_chief:
        every = config.save_checkpoints_steps or 0
        save_hooks.append(SaveWorkerPositionHook(position, agreement, every))
    return PositionTracking(
        [RestorePositionHook(position)], save_hooks, [SavePositionListener(position)]
    )


def _track_asynchronous(
    context: EstimatorContext,
    inputs: Inputs,
    prefix: str,
    source: str,
    agreement: WorkerAgreement,
) -> PositionTracking:
    """Tracks the position of an asynchronous worker, which saves when the chief announces it."""
    latest = functools.partial(latest_checkpoint, context.model_dir)
    position = InputPosition(inputs, prefix, source, agreement, latest)
    restore_hooks = [RestorePositionHook(position)]
    if context.config.is_chief:
        return PositionTracking(
            restore_hooks, listeners=[AnnounceSavesListener(), SavePositionListener(position)]
        )
    return PositionTracking(restore_hooks, save_hooks=[SaveWithChiefHook(position)])
