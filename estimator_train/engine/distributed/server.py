"""The gRPC server of this process's task, and waiting for those of other tasks."""

import logging
import math
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.own_servers import note_started
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.long_wait import SAY_EVERY_SECS
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_LOOK_EVERY_SECS = 0.2
_CONNECT_SECS = 2.0
# The preface of a connection and an empty frame of settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# A server cannot be stopped, so a process has one for good.
_started: dict[tuple[Any, ...], tf.distribute.Server] = {}


def start_server(config: RunConfig, server_config: tf.compat.v1.ConfigProto | None = None) -> str:
    """Starts the server of this task, unless it runs already in this process.

    Args:
      config: The task and its cluster.
      server_config: Settings of the server's devices; by default the sessions'.

    Returns:
      The address that sessions connect to.

    Raises:
      ValueError: The port is taken.
    """
    jobs = training_jobs(config)
    key = (config.task_type, config.task_id, str(sorted(jobs.items())))
    if key not in _started:
        address = jobs[config.task_type][config.task_id]
        _LOG.info("Start Tensorflow server.")
        try:
            _started[key] = tf.distribute.Server(
                tf.train.ClusterSpec(jobs),
                job_name=config.task_type,
                task_index=config.task_id,
                protocol=config.protocol or "grpc",
                config=server_config or config.session_config,
            )
        except tf.errors.UnknownError as error:
            if not is_reachable(address):
                raise
            return _server_of_the_user(config, address, error)
        note_started(str(_started[key].target))
    return str(_started[key].target)


def training_jobs(config: RunConfig) -> dict[str, dict[int, str]]:
    """The cluster without evaluators, who stand beside it whether they are listed or not."""
    spec = config.cluster_spec
    return {
        job: {index: spec.task_address(job, index) for index in spec.task_indices(job)}
        for job in spec.jobs
        if job != cluster.EVALUATOR
    }


def addresses_of(jobs: Mapping[str, Mapping[int, str]], *names: str) -> dict[str, str]:
    """Task name ("ps:0") to address, for the jobs of these names."""
    return {
        f"{name}:{index}": address
        for name in names
        for index, address in sorted(jobs.get(name, {}).items())
    }


def is_reachable(address: str) -> bool:
    """Whether something listens at "host:port"."""
    try:
        with _connection(address):
            return True
    except OSError:
        return False


def answers(address: str) -> bool:
    """Whether a gRPC server at "host:port" answers; a process that is stopped only seems to listen.

    It greets as HTTP/2 has it (RFC 9113, section 3.4), and the server's first frame is the answer.
    """
    try:
        with _connection(address) as connection:
            connection.sendall(_GREETING)
            return bool(connection.recv(1))
    except OSError:
        return False


def _connection(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS)


def wait_until_reachable(addresses: Mapping[str, str], seconds: float) -> None:
    """Waits until all of these tasks listen; says every 30 seconds for whom it waits.

    Args:
      addresses: Task name to address.
      seconds: How long to wait.

    Raises:
      DeadlineExceededError: The time is over.
      Preempted: A signal came that ends this job.
    """
    patience = Patience(seconds)
    missing = _unreachable(addresses)
    while missing:
        preemption.check("waiting for other tasks")
        patience.wait(
            _LOOK_EVERY_SECS,
            f"for {', '.join(f'{name} at {addresses[name]}' for name in missing)} to start",
        )
        missing = _unreachable({name: addresses[name] for name in missing})


class Patience:
    """Waiting for something: it is said every 30 seconds, and given up after a time.

    Args:
      seconds: How long to wait from now.
      is_usual: Whether every job waits so, as an evaluator does for the next checkpoint: then it is
        told at level INFO, else at WARNING, which programs show that set no level.
    """

    def __init__(self, seconds: float, is_usual: bool = False) -> None:
        self._seconds = seconds
        self._level = logging.INFO if is_usual else logging.WARNING
        self._began = self._said = time.monotonic()
        self._end = self._began + seconds

    def wait(self, seconds: float, what: str) -> None:
        """Sleeps for some seconds.

        Args:
          seconds: How long.
          what: Completes "Waiting ", for the log and the error.

        Raises:
          DeadlineExceededError: The whole time is over.
        """
        now = time.monotonic()
        if now >= self._end:
            raise tf.errors.DeadlineExceededError(
                None,
                None,
                f"Gave up waiting {what}, after {self._seconds:g} seconds "
                "(RunConfig.session_creation_timeout_secs).",
            )
        if now - self._said >= SAY_EVERY_SECS:
            self._said = now
            left = self._end - now
            limit = "" if math.isinf(left) else f"; giving up in {left:.0f} s"
            _LOG.log(self._level, "Waiting %s, for %d s now%s.", what, now - self._began, limit)
        time.sleep(max(0.0, min(seconds, self._end - now)))


def _unreachable(addresses: Mapping[str, str]) -> Sequence[str]:
    return [name for name, address in addresses.items() if not is_reachable(address)]


def _server_of_the_user(config: RunConfig, address: str, error: Exception) -> str:
    """The target of a server that a script started itself before it trains, as was the custom.

    Raises:
      ValueError: What listens at the address is something else.
    """
    target = f"grpc://{address}"
    own = f"/job:{config.task_type}/replica:0/task:{config.task_id}/"
    settings = tf.compat.v1.ConfigProto(
        operation_timeout_in_ms=int(1000 * _CONNECT_SECS), device_filters=[own.rstrip("/")]
    )
    try:
        with tf.compat.v1.Session(target, graph=tf.Graph(), config=settings) as session:
            if any(device.name.startswith(own) for device in session.list_devices()):
                return target
    except tf.errors.OpError:
        pass
    raise ValueError(
        f"The port of {config.task_type} {config.task_id}, {address}, is taken by another "
        "process. Stop that one, or give the task another port in TF_CONFIG."
    ) from error
