"""Noticing that another worker of a synchronous training is gone, for whom collectives wait."""

import select
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.distributed.server import (
    addresses_of,
    training_jobs,
    wait_until_reachable,
)
from estimator_train.lifecycle.hard_exit import end_now
from estimator_train.lifecycle.long_wait import RETRYABLE_EXIT_CODE, long_wait
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_CONNECT_SECS = 5.0
_LOOK_SECS = 1.0
# Servers close idle connections, but not so soon.
_RENEW_SECS = 10.0
_ATTEMPTS = 3
_ABORTED = "Collective ops is aborted"
# A process is one worker, in one training at a time.
_all_ended = threading.Event()


class Peers:
    """Watches the other workers of a synchronous training.

    A collective whose partner was killed waits forever, and after a failure the collectives of a
    process cannot be used again. So when a worker is gone, this process ends too, by exit code 143,
    to be started again with it.

    Args:
      config: The settled configuration of the training.
    """

    def __init__(self, config: RunConfig) -> None:
        trainers = addresses_of(
            training_jobs(config), cluster.CHIEF, cluster.MASTER, cluster.WORKER
        )
        trainers.pop(f"{config.task_type}:{config.task_id}")
        self._others = trainers
        self._secs = config.session_creation_timeout_secs or float("inf")

    @property
    def names(self) -> str:
        """The others, as "worker:0 and worker:2"."""
        return " and ".join(self._others)

    def wait(self) -> None:
        """Waits until all others are there, and watches them from then on.

        Raises:
          DeadlineExceededError: One did not come up within session_creation_timeout_secs.
        """
        wait_until_reachable(self._others, self._secs)
        _all_ended.clear()
        threading.Thread(target=self._watch, name="peers", daemon=True).start()

    def _watch(self) -> None:
        connections = {name: _Connection(address) for name, address in self._others.items()}
        while not _all_ended.is_set():
            gone = _gone(connections)
            if gone and not _all_ended.is_set():
                # The main thread hangs in a collective, which nothing interrupts.
                _end(f"{gone} at {self._others[gone]} is gone")
        for connection in connections.values():
            connection.close()


def _end(why: str) -> None:
    """Ends this process, to be started again with the others."""
    _LOG.error(
        "%s, and synchronous training cannot continue without it. "
        "Exiting with code %d; a restart continues from the last checkpoint.",
        why,
        RETRYABLE_EXIT_CODE,
    )
    end_now(RETRYABLE_EXIT_CODE, why)


def end_watch() -> None:
    """Watches no more: all have made their last step, and the others may go."""
    _all_ended.set()


class WaitForPeers(tf.compat.v1.train.SessionCreator):
    """Creates sessions when all workers are there.

    Args:
      config: The settled configuration of the training.
      creator: What creates them.
    """

    def __init__(self, config: RunConfig, creator: tf.compat.v1.train.SessionCreator) -> None:
        self._peers, self._creator = Peers(config), creator
        self._limit = config.session_creation_timeout_secs, "session_creation_timeout_secs"

    def create_session(self) -> tf.compat.v1.Session:
        """Waits and creates a session, whose first values all workers share.

        A worker that no longer answers TensorFlow aborts the collectives of all others for good,
        and a MonitoredSession would try without end to create a session.
        """
        self._peers.wait()
        try:
            with long_wait(f"for {self._peers.names} to create their sessions", *self._limit):
                return self._creator.create_session()
        except tf.errors.OpError as error:
            if _ABORTED in str(error):
                _end(f"Of {self._peers.names}, one does not answer")
            raise


class _Connection:
    """A connection to another worker's server, which breaks when its process ends."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host.strip("[]"), int(port))
        self.socket: socket.socket | None = None
        self._renewed = 0.0

    def is_lost(self) -> bool:
        """Makes or renews the connection; returns whether that cannot be."""
        if self.socket is not None and time.monotonic() - self._renewed < _RENEW_SECS:
            return False
        for _ in range(_ATTEMPTS):
            try:
                fresh = socket.create_connection(self._address, timeout=_CONNECT_SECS)
            except TimeoutError:
                continue  # A machine that is busy.
            except OSError:
                return True
            self.close()
            self.socket, self._renewed = fresh, time.monotonic()
            return False
        return True

    def is_broken(self) -> bool:
        """Whether the other side closed the connection; called when there is something to read."""
        assert self.socket is not None
        try:
            return not self.socket.recv(4096)
        except OSError:
            return True

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()


def _gone(connections: Mapping[str, _Connection]) -> str | None:
    """The name of a worker that is gone, after at most a second."""
    for name, connection in connections.items():
        if connection.is_lost():
            return name
    by_socket: dict[Any, str] = {one.socket: name for name, one in connections.items()}
    readable, _, _ = select.select(list(by_socket), [], [], _LOOK_SECS)
    for one in readable:
        if connections[by_socket[one]].is_broken():
            return by_socket[one]
    return None
