"""Stand-in for `tf.contrib.summary`: summaries that are written while operations run."""

from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from tf_contrib._types import Step, TensorLike

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
should_record_summaries = _v2.should_record_summaries
# The collection to which TensorFlow adds the initializer of each writer of a graph.
_INITIALIZERS = "_SUMMARY_WRITER_V2"


def create_file_writer(
    logdir: str,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> tf.summary.SummaryWriter:
    """Creates a writer of event files; see `tf.summary.create_file_writer`."""
    return _v2.create_file_writer(logdir, max_queue, flush_millis, filename_suffix, name)


def summary_writer_initializer_op() -> list[tf.Operation]:
    """Returns the operations that create the writers of the default graph.

    Raises:
      RuntimeError: Eager execution is enabled.
    """
    if tf.executing_eagerly():
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode."
        )
    return tf.compat.v1.get_collection(_INITIALIZERS)


def always_record_summaries() -> AbstractContextManager[Any]:
    """Returns a context in which all summaries are written."""
    return _v2.record_if(True)


def never_record_summaries() -> AbstractContextManager[Any]:
    """Returns a context in which no summaries are written."""
    return _v2.record_if(False)


def record_summaries_every_n_global_steps(
    n: int, global_step: Step | None = None
) -> AbstractContextManager[Any]:
    """Returns a context in which summaries are written every n steps.

    Args:
      n: Steps between summaries.
      global_step: Step; by default the global step of the default graph.
    """
    step = _get_step(global_step)
    return _v2.record_if(lambda: tf.equal(tf.cast(step, tf.int64) % n, 0))


def scalar(
    name: str, tensor: TensorLike, family: str | None = None, step: Step | None = None
) -> tf.Operation:
    """Writes a scalar."""
    return _v2.scalar(_get_tag(name, family), tf.reshape(tensor, []), step=_get_step(step))


def histogram(
    name: str, tensor: TensorLike, family: str | None = None, step: Step | None = None
) -> tf.Operation:
    """Writes a histogram of values."""
    return _v2.histogram(_get_tag(name, family), tensor, step=_get_step(step))


def image(
    name: str,
    tensor: TensorLike,
    bad_color: object = None,
    max_images: int = 3,
    family: str | None = None,
    step: Step | None = None,
) -> tf.Operation:
    """Writes images; bad_color has no effect."""
    del bad_color
    return _v2.image(_get_tag(name, family), tensor, step=_get_step(step), max_outputs=max_images)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: Step | None = None,
) -> tf.Operation:
    """Writes audio clips."""
    return _v2.audio(_get_tag(name, family), tensor, sample_rate, _get_step(step), max_outputs)


def _get_tag(name: str, family: str | None) -> str:
    return f"{family}/{name}" if family else name


def _get_step(step: Step | None) -> tf.Tensor:
    step = tf.compat.v1.train.get_or_create_global_step() if step is None else step
    return tf.cast(step, tf.int64)
