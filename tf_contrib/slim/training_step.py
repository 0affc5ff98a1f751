"""The default step of `slim.learning.train`: its conditions, log lines and traces."""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Session, Step

_v1 = tf.compat.v1


def choose_step_kwargs(
    given: Mapping[str, Any] | int,
    step: Step,
    number_of_steps: int | None,
    intervals: Mapping[str, int | None],
    logdir: str | None,
) -> dict[str, Any]:
    """Returns the last argument of a step function: the given one, or tensors of conditions.

    Args:
      given: The program's argument.
      step: Global step.
      number_of_steps: Number of steps after which training ends.
      intervals: Numbers of steps between two times that a condition holds.
      logdir: Directory of traces.
    """
    if isinstance(given, Mapping):
        return dict(given)
    with tf.name_scope("train_step"):
        chosen: dict[str, Any] = {
            "should_stop": tf.constant(False)
            if number_of_steps is None
            else tf.greater_equal(step, number_of_steps)
        }
        for name, interval in intervals.items():
            if interval:
                chosen[name] = tf.equal(tf.math.floormod(step, interval), 0)
    return {**chosen, "logdir": logdir} if "should_trace" in chosen else chosen


def train_step(
    sess: Session, train_op: tf.Tensor, global_step: Step, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, bool]:
    """Runs one training step.

    Args:
      sess: Session.
      train_op: Operation of a step, which returns the loss.
      global_step: Global step.
      train_step_kwargs: Tensors `should_stop`, `should_log` and `should_trace`, and `logdir` for
        traces; each is optional.

    Returns:
      The loss, and whether training ends.
    """

    def holds(name: str) -> bool:
        return name in train_step_kwargs and bool(sess.run(train_step_kwargs[name]))

    started = time.monotonic()
    options = metadata = None
    if holds("should_trace"):
        options = _v1.RunOptions(trace_level=_v1.RunOptions.FULL_TRACE)
        metadata = _v1.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.monotonic() - started
    if metadata is not None:
        _write_trace(metadata, train_step_kwargs["logdir"], int(step))
    if holds("should_log"):
        _v1.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, seconds)
    return loss, holds("should_stop")


def _write_trace(metadata: tf.compat.v1.RunMetadata, logdir: str, step: int) -> None:
    """Writes the times of the operations of a step, in the format of chrome://tracing."""
    path = os.path.join(logdir, f"tf_trace-{step}.json")
    _v1.logging.info("Writing trace to %s", path)
    events = [
        {
            "name": node.node_name,
            "ph": "X",
            "pid": number,
            "tid": node.thread_id,
            "ts": node.all_start_micros,
            "dur": node.all_end_rel_micros,
        }
        for number, device in enumerate(metadata.step_stats.dev_stats)
        for node in device.node_stats
    ]
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(json.dumps({"traceEvents": events}))
