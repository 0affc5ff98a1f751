"""`tf.contrib.summary`: summaries that are written as operations run."""

from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

_v2 = tf.compat.v2.summary
__all__ = [
    "all_summary_ops",
    "always_record_summaries",
    "audio",
    "create_file_writer",
    "flush",
    "histogram",
    "image",
    "initialize",
    "never_record_summaries",
    "record_summaries_every_n_global_steps",
    "scalar",
]

flush = _v2.flush
all_summary_ops = tf.compat.v1.summary.all_v2_summary_ops
initialize = tf.compat.v1.summary.initialize
summary_writer_initializer_op = tf.compat.v1.summary.all_v2_summary_ops


def create_file_writer(
    logdir: str,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> Any:
    """A writer of event files; see `tf.summary.create_file_writer`."""
    return _v2.create_file_writer(logdir, max_queue, flush_millis, filename_suffix, name)


def always_record_summaries() -> AbstractContextManager[Any]:
    """Within it all summaries are written."""
    return _v2.record_if(True)


def never_record_summaries() -> AbstractContextManager[Any]:
    """Within it no summaries are written."""
    return _v2.record_if(False)


def record_summaries_every_n_global_steps(
    n: int, global_step: Any = None
) -> AbstractContextManager[Any]:
    """Within it summaries are written every n steps.

    Args:
      n: Steps between them.
      global_step: The step; the default graph's by default.
    """
    step = _step(global_step)
    return _v2.record_if(lambda: tf.equal(tf.cast(step, tf.int64) % n, 0))


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""
    return _v2.scalar(_tag(name, family), tf.reshape(tensor, []), step=_step(step))


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how values are spread."""
    return _v2.histogram(_tag(name, family), tensor, step=_step(step))


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes pictures; bad_color has no effect."""
    del bad_color
    return _v2.image(_tag(name, family), tensor, step=_step(step), max_outputs=max_images)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes sounds."""
    return _v2.audio(_tag(name, family), tensor, sample_rate, _step(step), max_outputs)


def _tag(name: str, family: str | None) -> str:
    return f"{family}/{name}" if family else name


def _step(step: Any) -> Any:
    step = tf.compat.v1.train.get_or_create_global_step() if step is None else step
    return tf.cast(step, tf.int64)
