"""Evaluation of `tf.contrib.training`: graphs that are run with the values of checkpoints."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train.extension import get_or_create_eval_step as get_or_create_eval_step
from tf_contrib._types import Feeds, Fetches, RunContext, RunValues, Session

_v1 = tf.compat.v1


class StopAfterNEvalsHook(tf.compat.v1.train.SessionRunHook):
    """Hook that stops an evaluation after some batches.

    Args:
      num_evals: Number of batches; None: all.
      log_progress: Unused.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        del log_progress
        self._remaining = num_evals

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Counts a batch."""
        if self._remaining is not None:
            self._remaining -= 1
            if self._remaining <= 0:
                run_context.request_stop()


class SummaryAtEndHook(tf.compat.v1.train.SessionRunHook):
    """Hook that writes summaries at the end of an evaluation.

    Args:
      log_dir: Directory of the event files.
      summary_writer: Writer to use instead of log_dir.
      summary_op: Summaries; by default all.
      feed_dict: Feeds of the summaries.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: tf.compat.v1.summary.FileWriter | None = None,
        summary_op: tf.Tensor | None = None,
        feed_dict: Feeds | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("log_dir or summary_writer must be provided.")
        self._writer: Any = summary_writer
        self._log_dir = log_dir
        self._summary_op, self._feed_dict = summary_op, feed_dict

    def begin(self) -> None:
        """Creates the writer and the summaries."""
        self._writer = self._writer or _v1.summary.FileWriterCache.get(self._log_dir)
        if self._summary_op is None:
            self._summary_op = _v1.summary.merge_all()
        self._step = _v1.train.get_or_create_global_step()

    def end(self, session: Session) -> None:
        """Writes the summaries."""
        step = session.run(self._step)
        if self._summary_op is not None:
            text = session.run(self._summary_op, self._feed_dict)
            self._writer.add_summary(text, step)
        self._writer.flush()


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: tf.compat.v1.train.Scaffold | None = None,
    eval_ops: Fetches | None = None,
    feed_dict: Feeds | None = None,
    final_ops: Fetches | None = None,
    final_ops_feed_dict: Feeds | None = None,
    hooks: Sequence[Any] | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
) -> Any:
    """Evaluates the default graph with the values of a checkpoint.

    Args:
      checkpoint_path: Path of the checkpoint.
      master: Address of the session.
      scaffold: Scaffold of the session.
      eval_ops: Operations to run until a hook stops or the input ends.
      feed_dict: Feeds of eval_ops.
      final_ops: Operations to run at the end.
      final_ops_feed_dict: Feeds of final_ops.
      hooks: Hooks of the session.
      config: Options of the session.

    Returns:
      The values of final_ops.
    """
    creator = _v1.train.ChiefSessionCreator(scaffold, master, config, None, checkpoint_path)
    final_ops_hook = _v1.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    step = _v1.assign_add(get_or_create_eval_step(), 1)
    _v1.logging.info(time.strftime("Starting evaluation at %Y-%m-%dT%H:%M:%S"))
    with _v1.train.MonitoredSession(creator, [*(hooks or ()), final_ops_hook]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run([eval_ops, step], feed_dict)
    _v1.logging.info(time.strftime("Finished evaluation at %Y-%m-%d-%H:%M:%S"))
    return final_ops_hook.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: tf.compat.v1.train.Scaffold | None = None,
    eval_ops: Fetches | None = None,
    feed_dict: Feeds | None = None,
    final_ops: Fetches | None = None,
    final_ops_feed_dict: Feeds | None = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[Any] | None = None,
    config: tf.compat.v1.ConfigProto | None = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates each new checkpoint of a directory; see `evaluate_once`."""
    operations = (eval_ops, feed_dict, final_ops, final_ops_feed_dict)
    values = None
    paths: Iterator[str] = tf.train.checkpoints_iterator(
        os.fspath(checkpoint_dir), eval_interval_secs, timeout, timeout_fn
    )
    for number, path in enumerate(paths, 1):
        values = evaluate_once(path, master, scaffold, *operations, hooks, config)
        if number == max_number_of_evaluations:
            break
    return values
