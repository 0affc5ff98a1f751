"""`slim.evaluation`: evaluations of checkpoints that write summaries."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tf_contrib._types import Feeds, Fetches, Hook, Session
from tf_contrib.slim.training_loop import USE_DEFAULT, choose
from tf_contrib.training import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once as _evaluate_once,
    evaluate_repeatedly,
    wait_for_new_checkpoint,
)

_v1 = tf.compat.v1
__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str | None,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Feeds | None = None,
    eval_op: Fetches | None = None,
    eval_op_feed_dict: Feeds | None = None,
    final_op: Fetches | None = None,
    final_op_feed_dict: Feeds | None = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None,
    variables_to_restore: Sequence[Any] | None = None,
    session_config: tf.compat.v1.ConfigProto | None = None,
    hooks: Sequence[Hook] | None = None,
) -> Any:
    """Evaluates the default graph with the values of a checkpoint.

    Args:
      master: Address of the session.
      checkpoint_path: Path of the checkpoint.
      logdir: Directory of the event files.
      num_evals: Number of batches.
      initial_op: Operation that initializes variables.
      initial_op_feed_dict: Feeds of `initial_op`.
      eval_op: Operations of a batch.
      eval_op_feed_dict: Feeds of `eval_op`.
      final_op: Operations to run at the end.
      final_op_feed_dict: Feeds of `final_op`.
      summary_op: Summaries to write at the end; None: no summaries.
      summary_op_feed_dict: Feeds of `summary_op`.
      variables_to_restore: Variables to read from the checkpoint; by default all.
      session_config: Options of the session.
      hooks: Further hooks.

    Returns:
      The values of `final_op`.
    """
    return _evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_make_scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_list_hooks(hooks, num_evals, logdir, summary_op, summary_op_feed_dict),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str | None,
    num_evals: int | None = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Feeds | None = None,
    init_fn: Callable[[Session], None] | None = None,
    eval_op: Fetches | None = None,
    eval_op_feed_dict: Feeds | None = None,
    final_op: Fetches | None = None,
    final_op_feed_dict: Feeds | None = None,
    summary_op: Any = USE_DEFAULT,
    summary_op_feed_dict: Feeds | None = None,
    variables_to_restore: Sequence[Any] | None = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: tf.compat.v1.ConfigProto | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Hook] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a directory; see `evaluate_once`.

    Returns:
      The values of `final_op` of the last evaluation, or None.
    """
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_make_scaffold(initial_op, initial_op_feed_dict, variables_to_restore, init_fn),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_list_hooks(hooks, num_evals, logdir, summary_op, summary_op_feed_dict),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )


def _make_scaffold(
    init_op: Any,
    init_feed_dict: Feeds | None,
    variables: Sequence[Any] | None,
    init_fn: Callable[[Session], None] | None = None,
) -> tf.compat.v1.train.Scaffold:
    initialize = None if init_fn is None else lambda scaffold, session: init_fn(session)
    return _v1.train.Scaffold(
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        init_fn=initialize,
        # Without a saver the scaffold makes one after the hooks have created the global step.
        saver=None if variables is None else _v1.train.Saver(variables),
    )


def _list_hooks(
    hooks: Sequence[Hook] | None,
    num_evals: int | None,
    logdir: str | None,
    summary_op: Any,
    feed_dict: Feeds | None,
) -> list[Hook]:
    found: list[Hook] = [StopAfterNEvalsHook(num_evals)]
    operation = choose(summary_op, _v1.summary.merge_all)
    if operation is not None:
        found.append(SummaryAtEndHook(logdir, summary_op=operation, feed_dict=feed_dict))
    return [*found, *(hooks or ())]
