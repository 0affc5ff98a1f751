"""Evaluation of `tf.contrib.training`: graphs with the values of checkpoints."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def get_or_create_eval_step() -> Any:
    """The counter of evaluated batches."""
    found = _v1.get_collection(_v1.GraphKeys.EVAL_STEP)
    if found:
        return found[0]
    return _v1.get_variable(
        "eval_step",
        [],
        tf.int64,
        _v1.zeros_initializer(),
        trainable=False,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(tf.compat.v1.train.SessionRunHook):
    """Stops an evaluation after some batches.

    Args:
      num_evals: The number; None: the input ends it.
      log_progress: Unused.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        del log_progress
        self._left = num_evals

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Counts a batch."""
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                run_context.request_stop()


class SummaryAtEndHook(tf.compat.v1.train.SessionRunHook):
    """Writes summaries when an evaluation has ended.

    Args:
      log_dir: Directory of the event files.
      summary_writer: A writer instead.
      summary_op: The summaries; by default all.
      feed_dict: What they are fed.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("log_dir or summary_writer must be provided.")
        self._writer, self._log_dir = summary_writer, log_dir
        self._summary_op, self._feed_dict = summary_op, feed_dict

    def begin(self) -> None:
        """Prepares writer and summaries."""
        self._writer = self._writer or _v1.summary.FileWriterCache.get(self._log_dir)
        if self._summary_op is None:
            self._summary_op = _v1.summary.merge_all()
        self._step = _v1.train.get_or_create_global_step()

    def end(self, session: Any) -> None:
        """Writes the summaries."""
        step = session.run(self._step)
        if self._summary_op is not None:
            text = session.run(self._summary_op, self._feed_dict)
            self._writer.add_summary(text, step)
        self._writer.flush()


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
) -> Any:
    """Evaluates the default graph with a checkpoint's values.

    Args:
      checkpoint_path: The checkpoint.
      master: Address of the session.
      scaffold: Of the session.
      eval_ops: Run until a hook stops, or the input ends.
      feed_dict: What they are fed.
      final_ops: Run then.
      final_ops_feed_dict: What those are fed.
      hooks: Of the session.
      config: Of the session.

    Returns:
      What final_ops came to.
    """
    creator = _v1.train.ChiefSessionCreator(scaffold, master, config, None, checkpoint_path)
    last = _v1.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    step = _v1.assign_add(get_or_create_eval_step(), 1)
    with _v1.train.MonitoredSession(creator, [*(hooks or ()), last]) as session:
        while eval_ops is not None and not session.should_stop():
            session.run([eval_ops, step], feed_dict)
    return last.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Sequence[Any] | None = None,
    config: Any = None,
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
