"""`tf.contrib.slim.queues`: queue runners for as long as a block runs."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

_train = tf.compat.v1.train


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:  # noqa: N802
    """Runs the queue runners of the default graph within a block.

    Args:
      session: The session that they run in.
    """
    coordinator = _train.Coordinator()
    threads = _train.start_queue_runners(session, coordinator)
    try:
        yield
    finally:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
