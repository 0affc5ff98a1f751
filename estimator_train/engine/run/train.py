"""Training: one graph, one monitored session, steps until something says stop."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.integrity import repair
from estimator_train.engine.checkpoints.model_dir_lock import sole_writer
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_sync_replicas import stop_grace_secs
from estimator_train.engine.distributed.ps_task import own_device, placement
from estimator_train.engine.distributed.strategies import graph_form
from estimator_train.engine.distributed.sync_watchdog import Peers
from estimator_train.engine.graph.model_fn import model_graph
from estimator_train.engine.graph.step_graph import build_step
from estimator_train.engine.loops.step_runner import StepRunner
from estimator_train.engine.run import train_hooks
from estimator_train.engine.run.end_saved import ending_saved
from estimator_train.engine.run.training_checkpoints import TrainingCheckpoints
from estimator_train.engine.sessions.session import explained_restore, session_creator
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.lifecycle.step_timeout import StepTimeout
from estimator_train.run_config import RunConfig
from estimator_train.run_config.topology import is_synchronous, steps_per_call

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
    with sole_writer(context.config), ending_saved(context) as ending_hooks:
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
    config = context.config
    strategy = graph_form(config.train_distribute, config)
    timeout = StepTimeout(config.step_timeout_secs, _other_workers(config))
    with model_graph(context, placement(config)):
        train_hooks.tell_of_model(hooks)
        step = build_step(context, input_fn, ModeKeys.TRAIN, strategy)
        warm_start.apply(context.warm_start, context.latest_checkpoint())
        step_read = tf_internals.read_step_before_increment(step.global_step)
        _show_loss(step.spec.loss)
        checkpoints = TrainingCheckpoints(
            context, step, strategy, input_fn, hooks, saving_listeners
        )
        all_hooks = train_hooks.session_hooks(context, step, step_read, checkpoints, hooks, timeout)
        step.inputs.attend(all_hooks, checkpoints.schedule)
        if is_synchronous(config):
            fed = step.spec.scaffold.init_feed_dict or {}
            tf_internals.keep_broadcasts(step.global_step, fed)
        runner = StepRunner(
            train_hooks.measured(step.spec.train_op, all_hooks),
            step.spec.loss,
            step_read,
            all_hooks,
            steps_per_call(config),
            timeout,
            config.xla,
            step.inputs.agreement,
            own_device(config),
        )
        with explained_restore(context.latest_checkpoint(), not step.spec.scaffold.saver):
            session = tf.compat.v1.train.MonitoredSession(
                session_creator(context, step.spec.scaffold, strategy),
                all_hooks,
                stop_grace_period_secs=stop_grace_secs(step.global_step.graph),
            )
        return runner.run(session, checkpoints.saver.settle)


def _other_workers(config: RunConfig) -> str:
    """The workers that a step of this one waits for, as "worker:0 and worker:2"; "" for none."""
    return Peers(config).names if is_synchronous(config) else ""


def _show_loss(loss: tf.Tensor) -> None:
    """Adds the loss to its collection and, where model_fn did not, to the summaries."""
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.LOSSES, loss)
    summaries = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        tf.compat.v1.summary.scalar("loss", loss)
