"""Training: one graph, one monitored session, steps until something says stop."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.async_saver import (
    BackgroundSaver,
    FailedWriteHook,
    SettledSaves,
)
from estimator_train.engine.checkpoints.integrity import repair
from estimator_train.engine.checkpoints.model_dir_lock import sole_writer
from estimator_train.engine.checkpoints.requested_saves import SaveForListeners
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_save_pacing import save_in_time
from estimator_train.engine.distributed.ps_sync_replicas import stop_grace_secs
from estimator_train.engine.distributed.ps_task import placement
from estimator_train.engine.distributed.strategies import graph_form
from estimator_train.engine.distributed.sync_stop import introduce
from estimator_train.engine.graph.model_fn import model_graph
from estimator_train.engine.graph.step_graph import Step, build_step
from estimator_train.engine.inputs.position import saved_position
from estimator_train.engine.inputs.position_hooks import SavePosition
from estimator_train.engine.loops import hook_schedule
from estimator_train.engine.loops.step_runner import StepRunner
from estimator_train.engine.run.end_saved import ending_saved
from estimator_train.engine.run.history import HistoryHook
from estimator_train.engine.run.log_hooks import StepCounter, SummarySaver
from estimator_train.engine.run.nan_loss import NanLossHook
from estimator_train.engine.sessions.session import explained_restore, session_creator
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.lifecycle.step_timeout import StepTimeout, StepTimeoutHook
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import is_ps_task, is_synchronous

_LOG = tf.get_logger()
_Hook: TypeAlias = tf.compat.v1.train.SessionRunHook


def train(
    context: EstimatorContext,
    input_fn: Any,
    hooks: Sequence[_Hook],
    saving_listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
) -> Any:
    """Trains until a hook stops it or the input ends.

    Args:
      context: The estimator that is run.
      input_fn: The user's input_fn.
      hooks: Hooks of the caller.
      saving_listeners: Listeners of the checkpoints.

    Returns:
      The loss of the last step as a NumPy scalar, or None if there was no step.
    """
    with sole_writer(context), ending_saved(context) as ending_hooks:
        if context.config.is_chief:
            repair(context.model_dir)

        def train_with(more_hooks: list[_Hook]) -> Any:
            all_hooks = [*hooks, *ending_hooks, *more_hooks]
            return _train(context, input_fn, all_hooks, saving_listeners)

        loss = warm_start.trained(context.warm_start, train_with)
    if loss is None:
        _LOG.warning(
            "Training made no steps: the input is empty, or a hook stopped it before the first."
        )
    return loss


def _train(
    context: EstimatorContext,
    input_fn: Any,
    hooks: Sequence[_Hook],
    saving_listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
) -> Any:
    strategy = graph_form(context.config.train_distribute, context.config)
    timeout = StepTimeout(context.config.step_timeout_secs)
    with model_graph(context, placement(context.config)):
        for hook in hooks:
            if hasattr(hook, "before_model"):  # It wants model_fn to know of it.
                hook.before_model()
        step = build_step(context, input_fn, ModeKeys.TRAIN, strategy)
        warm_start.apply(context.warm_start, context.latest_checkpoint())
        step_read = tf_internals.read_step_before_increment(step.global_step)
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.LOSSES, step.spec.loss)
        _add_loss_summary(step.spec.loss)
        _add_saver(context, step.spec.scaffold, strategy)
        # Values on other machines would come here to be copied, and go back to be written.
        beside = context.config.checkpoint_mode == "async" and not context.config.master
        saver = BackgroundSaver(step.spec.scaffold, beside)
        position = saved_position(context, step.inputs, input_fn, _users_savers(step, hooks))
        if position:
            saving_listeners = [*saving_listeners, SavePosition(position)]
        chief_hooks = _chief_hooks(context, step, step_read, hooks, saving_listeners, saver)
        # What they set is to be in the checkpoint of the same step.
        workers_hooks = [*hooks, *step.spec.training_hooks]
        setting = [hook for hook in workers_hooks if getattr(hook, "sets_variables", False)]
        # The input is started first of all: a saver hook saves as soon as there is a session.
        all_hooks = [
            StepTimeoutHook(timeout),
            *step.inputs.hooks,
            *(position.hooks if position else ()),
            *step.inputs.hooks_once_placed,
            *(position.saving_hooks if position else ()),
            *setting,
            *(chief_hooks if context.config.is_chief else ()),
            *(h for h in _worker_hooks(context, step, step_read, hooks, saver) if h not in setting),
        ]
        all_hooks = hook_schedule.in_order(all_hooks)
        if is_synchronous(context.config):
            fed = step.spec.scaffold.init_feed_dict or {}
            tf_internals.keep_broadcasts(step.global_step, fed)
            introduce(all_hooks, context.config.is_chief)
        runner = StepRunner(
            hook_schedule.measured(step.spec.train_op, all_hooks),
            step.spec.loss,
            step_read,
            all_hooks,
            1 if context.config.master else context.config.steps_per_loop,
            timeout,
            context.config.xla,
        )
        with explained_restore(context.latest_checkpoint()):
            session = tf.compat.v1.train.MonitoredSession(
                session_creator(context, step.spec.scaffold, strategy),
                all_hooks,
                stop_grace_period_secs=stop_grace_secs(step.global_step.graph),
            )
        with saver.open():
            return runner.run(session)


def _add_loss_summary(loss: tf.Tensor) -> None:
    summaries = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        tf.compat.v1.summary.scalar("loss", loss)


def _add_saver(
    context: EstimatorContext, scaffold: tf.compat.v1.train.Scaffold, strategy: Any
) -> None:
    """Makes a Saver with the job's retention where the user made none."""
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


def _chief_hooks(
    context: EstimatorContext,
    step: Step,
    step_read: tf.Tensor,
    callers_hooks: Sequence[_Hook],
    listeners: Sequence[tf.compat.v1.train.CheckpointSaverListener],
    background_saver: BackgroundSaver,
) -> list[_Hook]:
    """The hooks of the worker that writes checkpoints, the saver among them.

    Raises:
      ValueError: There are saving listeners and nothing that saves.
    """
    hooks = list(step.spec.training_chief_hooks)
    saver_hooks = _users_savers(step, callers_hooks)
    config = context.config
    step_after = _step_after(step)
    if saver_hooks:
        # The user's own saver saves; the listeners go to it.
        saver = saver_hooks[0]
        tf_internals.add_listeners(saver, listeners)
        hooks.insert(0, SaveForListeners(saver, listeners))
    elif config.save_checkpoints_secs or config.save_checkpoints_steps:
        saver = tf.compat.v1.train.CheckpointSaverHook(
            context.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            listeners=[SettledSaves(background_saver, listeners), *listeners],
            save_graph_def=config.checkpoint_save_graph_def,
            saver=background_saver,
        )
        if is_ps_task(config):
            save_in_time(saver, config)
        failed = FailedWriteHook(background_saver)
        hooks = [SaveForListeners(saver, listeners), saver, failed, *hooks]
    elif listeners:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
            "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    if config.log_step_count_steps:
        every = config.log_step_count_steps
        hooks += [
            StepCounter(step_after, every_n_steps=every, output_dir=context.model_dir),
            HistoryHook(
                context.model_dir,
                every,
                step.spec.loss,
                step_read,
                step.batch_size,
                *_replicas_and_processes(config),
            ),
        ]
    if config.save_summary_steps:
        hooks.append(
            SummarySaver(
                step_after,
                save_steps=config.save_summary_steps,
                output_dir=context.model_dir,
                scaffold=step.spec.scaffold,
            )
        )
    return hooks


def _step_after(step: Step) -> tf.Tensor:
    """The global step when a step is done."""
    with tf.control_dependencies([step.spec.train_op]):
        primary = getattr(step.global_step, "values", (step.global_step,))[0]
        return primary.read_value()


def _replicas_and_processes(config: RunConfig) -> tuple[int, int]:
    """How many replicas train, and in how many processes that make each step together."""
    strategy = config.train_distribute
    if strategy is None or not strategy.num_replicas_in_sync > 1:
        return max(1, config.num_worker_replicas), 1
    replicas = strategy.num_replicas_in_sync
    return replicas, replicas // max(1, len(strategy.extended.worker_devices))


def _users_savers(
    step: Step, callers_hooks: Sequence[_Hook]
) -> list[tf.compat.v1.train.CheckpointSaverHook]:
    spec = step.spec
    hooks = (*callers_hooks, *spec.training_chief_hooks, *spec.training_hooks)
    return [h for h in hooks if isinstance(h, tf.compat.v1.train.CheckpointSaverHook)]


def _worker_hooks(
    context: EstimatorContext,
    step: Step,
    step_read: tf.Tensor,
    hooks: Sequence[_Hook],
    saver: BackgroundSaver,
) -> list[_Hook]:
    nan_hook = NanLossHook(step.spec.loss, step.global_step, context.model_dir, saver.wait)
    found = [*hooks, nan_hook]
    if context.config.log_step_count_steps:
        found.append(
            tf.compat.v1.train.LoggingTensorHook(
                {"loss": step.spec.loss, "step": step_read},
                every_n_iter=context.config.log_step_count_steps,
            )
        )
    return [*found, *step.spec.training_hooks]
