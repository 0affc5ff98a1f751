"""`tf.contrib.slim.queues`: queue runners of a `with` block."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from tf_contrib._types import Session

_train = tf.compat.v1.train


@contextlib.contextmanager
def QueueRunners(session: Session) -> Iterator[None]:  # noqa: N802
    """Runs the queue runners of the default graph in a `with` block.

    Args:
      session: Session of the queue runners.
    """
    coordinator = _train.Coordinator()
    threads = _train.start_queue_runners(session, coordinator)
    try:
        yield
    finally:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
