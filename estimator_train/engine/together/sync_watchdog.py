"""Watchdog of synchronous workers: ends this process when another worker has disappeared.

A collective waits forever for a worker that was killed, and a process cannot use collectives again
after a failure. So when a worker disappears, this process exits with code 143, and the scheduler
restarts both.
"""

import select
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.together.server import (
    find_max_wait_secs,
    list_other_trainers,
    wait_until_reachable,
)
from estimator_train.lifecycle.limits import RETRYABLE_EXIT_CODE, end_now, limit_wait
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_CONNECT_SECS = 5.0
_POLL_SECS = 1.0
# Servers close idle connections later than this.
_RENEW_SECS = 10.0
_ATTEMPTS = 3
_ABORTED = "Collective ops is aborted"
# State of the process: it is one worker, in one training at a time.
_all_ended = threading.Event()


def _watch(workers: Mapping[str, str]) -> None:
    """Ends this process when a worker disappears; the body of a thread.

    Args:
      workers: Task name to address of the other workers.
    """
    connections = {name: _Connection(address) for name, address in workers.items()}
    while not _all_ended.is_set():
        lost = _find_lost(connections)
        if lost and not _all_ended.is_set():
            # The main thread hangs in a collective, which nothing interrupts.
            _exit_for_restart(f"{lost} at {workers[lost]} is gone")
    for connection in connections.values():
        connection.close()


def _exit_for_restart(why: str) -> None:
    """Exits with the code by which schedulers restart this process with the others."""
    _LOG.error(
        "%s, and synchronous training cannot continue without it. "
        "Exiting with code %d; a restart continues from the last checkpoint.",
        why,
        RETRYABLE_EXIT_CODE,
    )
    end_now(RETRYABLE_EXIT_CODE, why)


def end_watch() -> None:
    """Ends the watch: all workers have made their last step and may exit."""
    _all_ended.set()


class WaitForPeersCreator(tf.compat.v1.train.SessionCreator):
    """Session creator that waits for all synchronous workers, and then watches them.

    Args:
      config: The configuration of the training, its cluster resolved.
      creator: Creates the sessions.
    """

    def __init__(self, config: RunConfig, creator: tf.compat.v1.train.SessionCreator) -> None:
        self._config, self._creator = config, creator

    def create_session(self) -> tf.compat.v1.Session:
        """Waits and creates a session, with the same initial values on all workers.

        A worker that stops answering aborts the collectives of all others permanently, and a
        MonitoredSession would retry forever.

        Raises:
          DeadlineExceededError: A worker did not start within session_creation_timeout_secs.
        """
        workers = list_other_trainers(self._config)
        wait_until_reachable(workers, find_max_wait_secs(self._config))
        _all_ended.clear()
        threading.Thread(target=_watch, args=(workers,), name="peers", daemon=True).start()
        names, limit = " and ".join(workers), self._config.session_creation_timeout_secs
        try:
            with limit_wait(
                f"for {names} to create their sessions", limit, "session_creation_timeout_secs"
            ):
                return self._creator.create_session()
        except tf.errors.OpError as error:
            if _ABORTED in str(error):
                _exit_for_restart(f"Of {names}, one does not answer")
            raise


class _Connection:
    """Connection to another worker's server, which breaks when its process ends."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host.strip("[]"), int(port))
        self.socket: socket.socket | None = None
        self._renewed = 0.0

    def is_lost(self) -> bool:
        """Opens or renews the connection; returns whether that fails."""
        if self.socket is not None and time.monotonic() - self._renewed < _RENEW_SECS:
            return False
        for _ in range(_ATTEMPTS):
            try:
                fresh = socket.create_connection(self._address, timeout=_CONNECT_SECS)
            except TimeoutError:
                continue  # The machine may be busy.
            except OSError:
                return True
            self.close()
            self.socket, self._renewed = fresh, time.monotonic()
            return False
        return True

    def is_broken(self) -> bool:
        """Returns whether the other side closed the connection; called when it is readable."""
        assert self.socket is not None
        try:
            return not self.socket.recv(4096)
        except OSError:
            return True

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()


def _find_lost(connections: Mapping[str, _Connection]) -> str | None:
    """Returns the name of a worker that has disappeared, after at most a second."""
    for name, connection in connections.items():
        if connection.is_lost():
            return name
    by_socket: dict[Any, str] = {one.socket: name for name, one in connections.items()}
    readable, _, _ = select.select(list(by_socket), [], [], _POLL_SECS)
    for one in readable:
        if connections[by_socket[one]].is_broken():
            return by_socket[one]
    return None
