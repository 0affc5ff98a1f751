"""Sessions of workers, which wait until the chief has initialized or restored the variables."""

import contextlib
import logging
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.goodput.clock import WAITING, process_clock

_LOG = tf.get_logger()
# TensorFlow's creator checks every 30 seconds: a worker would be idle for that time.
_POLL_SECS = 1
_NOT_READY = "Waiting for model to be ready."


class PromptSessionCreator(tf.compat.v1.train.SessionCreator):
    """Session creator of a worker, which notices within a second that the model is ready.

    Args:
      scaffold: The model's Scaffold.
      master: The target of this task's server.
      config: Configuration of the session.
      max_wait_secs: Maximum time to wait for the chief; None for no limit.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        master: str,
        config: tf.compat.v1.ConfigProto,
        max_wait_secs: float | None,
    ) -> None:
        self._scaffold, self._master, self._config = scaffold, master, config
        self._max_wait_secs = max_wait_secs
        self._manager: tf.compat.v1.train.SessionManager | None = None

    def create_session(self) -> tf.compat.v1.Session:
        """Waits for the chief, and creates a session.

        Raises:
          DeadlineExceededError: The model was not ready after `max_wait_secs`.
        """
        self._scaffold.finalize()
        if self._manager is None:
            self._manager = tf.compat.v1.train.SessionManager(
                local_init_op=self._scaffold.local_init_op,
                local_init_feed_dict=self._scaffold.local_init_feed_dict,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=tf.compat.v1.get_default_graph(),
                recovery_wait_secs=_POLL_SECS,
            )
        with process_clock.spend(WAITING), _log_first_wait():
            return self._manager.wait_for_session(
                self._master, config=self._config, max_wait_secs=self._max_wait_secs
            )


@contextlib.contextmanager
def _log_first_wait() -> Iterator[None]:
    """Lets TensorFlow log only the first check that finds the model not ready."""
    has_logged = False

    def is_new(record: logging.LogRecord) -> bool:
        nonlocal has_logged
        is_wait = str(record.msg).startswith(_NOT_READY)
        is_repeated = is_wait and has_logged
        has_logged |= is_wait
        return not is_repeated

    _LOG.addFilter(is_new)
    try:
        yield
    finally:
        _LOG.removeFilter(is_new)
