"""Sessions of workers that wait for the chief to initialize or restore the variables."""

import contextlib
import logging
from collections.abc import Iterator

import tensorflow as tf

_LOG = tf.get_logger()
# TensorFlow's own creator looks every 30 seconds, which is how long most such workers stood idle.
_LOOK_EVERY_SECS = 1
_NOT_READY = "Waiting for model to be ready."


class PromptSessionCreator(tf.compat.v1.train.SessionCreator):
    """Creates the session of a worker soon after the chief has made the model ready.

    Args:
      scaffold: The model's Scaffold.
      master: The target of this task's server.
      config: Configuration of the session.
      max_wait_secs: How long to wait for the chief; None waits without a limit.
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
                recovery_wait_secs=_LOOK_EVERY_SECS,
            )
        with _said_once():
            return self._manager.wait_for_session(
                self._master, config=self._config, max_wait_secs=self._max_wait_secs
            )


@contextlib.contextmanager
def _said_once() -> Iterator[None]:
    """Within it the first look that finds the model not ready is logged, and none after it."""
    said = False

    def is_new(record: logging.LogRecord) -> bool:
        nonlocal said
        waits = str(record.msg).startswith(_NOT_READY)
        repeated, said = waits and said, waits or said
        return not repeated

    _LOG.addFilter(is_new)
    try:
        yield
    finally:
        _LOG.removeFilter(is_new)
