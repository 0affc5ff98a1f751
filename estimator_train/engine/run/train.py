"""Training: one graph, one monitored session, steps until something says stop."""

import contextlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals
from estimator_train.engine.checkpoints import warm_start
from estimator_train.engine.checkpoints.integrity import latest_checkpoint, repair
from estimator_train.engine.checkpoints.model_dir_lock import sole_writer
from estimator_train.engine.context import EstimatorContext
from estimator_train.engine.distributed.ps_task import placement
from estimator_train.engine.distributed.strategies import graph_form
from estimator_train.engine.distributed.sync_watchdog import Peers
from estimator_train.engine.graph.step_graph import build_step, model_graph
from estimator_train.engine.hook_types import Hook, Listener, PlacedHook
from estimator_train.engine.loops.step_runner import StepRunner
from estimator_train.engine.loops.training_loop import TrainingLoop
from estimator_train.engine.run.end_saved import ending_saved
from estimator_train.engine.run.train_hooks import measured, session_hooks
from estimator_train.engine.run.training_checkpoints import TrainingCheckpoints
from estimator_train.engine.sessions.session import training_session
from estimator_train.estimator_spec.spec import ModeKeys
from estimator_train.lifecycle.preemption import listening
from estimator_train.lifecycle.step_timeout import StepTimeout

_LOG = tf.get_logger()


def train(
    context: EstimatorContext,
    input_fn: Any,
    hooks: Sequence[Hook],
    saving_listeners: Sequence[Listener],
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
    with sole_writer(context.config), listening(context.config.preemption) as watch:
        ended_saved = ending_saved(watch, context.model_dir) if watch else None
        with ended_saved or contextlib.nullcontext([]) as ending_hooks:
            if context.config.is_chief:
                repair(context.model_dir)

            def train_with(more_hooks: list[Hook]) -> Any:
                all_hooks = [*hooks, *ending_hooks, *more_hooks]
                return _train(context, input_fn, all_hooks, saving_listeners)

            if context.warm_start:
                loss = warm_start.trained(context.warm_start, train_with)
            else:
                loss = train_with([])
    if loss is None:
        _LOG.warning(
            "Training made no steps: the input is empty, or a hook stopped it before the first."
        )
    return loss


def _train(
    context: EstimatorContext,
    input_fn: Any,
    hooks: Sequence[Hook],
    saving_listeners: Sequence[Listener],
) -> Any:
    config, topology = context.config, context.topology
    strategy = graph_form(config.train_distribute, config) if config.train_distribute else None
    timeout = _step_timeout(context)
    with model_graph(context, placement(config, topology.device) if topology.device else None):
        for hook in hooks:
            if isinstance(hook, PlacedHook):
                hook.before_model()
        step = build_step(context, input_fn, ModeKeys.TRAIN, strategy)
        if context.warm_start:
            warm_start.apply(context.warm_start, latest_checkpoint(context.model_dir))
        step_read = tf_internals.read_step_before_increment(step.global_step)
        _show_loss(step.spec.loss)
        checkpoints = TrainingCheckpoints(
            context, step, strategy, input_fn, hooks, saving_listeners
        )
        all_hooks = session_hooks(context, step, step_read, checkpoints, hooks, timeout)
        agreement = step.inputs.agreement
        if topology.is_synchronous:
            step.inputs.attend(all_hooks, checkpoints.schedule)
            fed = step.spec.scaffold.init_feed_dict or {}
            tf_internals.keep_broadcasts(step.global_step, fed)
        what_runs = measured(step.spec.train_op, all_hooks), step.spec.loss, step_read
        loops = TrainingLoop(
            *what_runs,
            all_hooks,
            topology.steps_per_call,
            config.xla,
            vote=agreement.vote if agreement else None,
            device=topology.device,
        )
        session = training_session(context, step.spec.scaffold, strategy, all_hooks)
        runner = StepRunner(
            what_runs,
            all_hooks,
            loops,
            topology.steps_per_call,
            timeout,
            agreement,
            others_count=topology.is_asynchronous,
        )
        return runner.run(session, checkpoints.saver.settle)


def _step_timeout(context: EstimatorContext) -> StepTimeout | None:
    """The clock of steps, where they have a limit or wait for other workers."""
    config = context.config
    if context.topology.is_synchronous:
        return StepTimeout(config.step_timeout_secs, Peers(config).names)
    return StepTimeout(config.step_timeout_secs) if config.step_timeout_secs else None


def _show_loss(loss: tf.Tensor) -> None:
    """Adds the loss to its collection and, where model_fn did not, to the summaries."""
    tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.LOSSES, loss)
    summaries = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        tf.compat.v1.summary.scalar("loss", loss)
