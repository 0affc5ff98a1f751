"""The gRPC server of this task, and waits for the servers of other tasks."""

import logging
import math
import socket
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.tf_internals import strategies
from estimator_train.goodput import WAITING, process_clock
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.limits import WaitClock
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_POLL_SECS = 0.2
_CONNECT_SECS = 2.0
# The preface of an HTTP/2 connection, and an empty SETTINGS frame.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# TensorFlow cannot stop a server, so it stays for the life of the process.
_started: dict[tuple[Any, ...], tf.distribute.Server] = {}


def start_server(config: RunConfig, server_config: tf.compat.v1.ConfigProto | None = None) -> str:
    """Starts the server of this task, unless it runs already in this process.

    Args:
      config: The task and its cluster.
      server_config: Settings of the server's devices; by default the sessions'.

    Returns:
      The address that sessions connect to.

    Raises:
      ValueError: The port is taken, or an address of the cluster is not host:port.
    """
    jobs = list_training_jobs(config)
    cluster.check_addresses(jobs)
    key = (config.task_type, config.task_id, str(sorted(jobs.items())))
    if key not in _started:
        address = jobs[config.task_type][config.task_id]
        if _is_bound(address) and is_reachable(address):
            # A strategy starts servers by TF_CONFIG only. Another process's server would share the
            # port without an error, and mix the two jobs.
            if not cluster.has_tf_config():
                raise ValueError(
                    f"Another process listens at {address}, the address of {name_task(config)}. "
                    "End it, or set TF_CONFIG with other ports (Slurm: srun --resv-ports)."
                )
            # MultiWorkerMirroredStrategy has started it. TensorFlow may try a second one for long.
            return _find_server_of_program(config, address)
        _LOG.info("Start Tensorflow server.")
        try:
            _started[key] = tf.distribute.Server(
                tf.train.ClusterSpec(jobs),
                job_name=config.task_type,
                task_index=config.task_id,
                protocol=config.protocol or "grpc",
                config=server_config or config.session_config,
            )
        except tf.errors.UnknownError:
            if not is_reachable(address):
                raise
            return _find_server_of_program(config, address)
    return str(_started[key].target)


def runs_here(master: str) -> bool:
    """Returns whether a server that was started in this process has an address.

    Args:
      master: The address that sessions connect to.
    """
    return any(str(server.target) == master for server in _started.values())


def list_training_jobs(config: RunConfig) -> dict[str, dict[int, str]]:
    """Returns the cluster without evaluators, which never train with it."""
    spec = config.cluster_spec
    return {
        job: {index: spec.task_address(job, index) for index in spec.task_indices(job)}
        for job in spec.jobs
        if job != cluster.EVALUATOR
    }


def list_addresses(config: RunConfig, *names: str) -> dict[str, str]:
    """Returns task name ("ps:0") to address, for the jobs of these names."""
    jobs = list_training_jobs(config)
    return {
        f"{name}:{index}": address
        for name in names
        for index, address in sorted(jobs.get(name, {}).items())
    }


def name_task(config: RunConfig) -> str:
    """Returns the name of this task, such as "worker:1"."""
    return f"{config.task_type}:{config.task_id}"


def find_chief(config: RunConfig) -> str | None:
    """Returns the name of the chief, such as "chief:0"; None in a cluster without a chief."""
    return next(iter(list_addresses(config, cluster.CHIEF, cluster.MASTER)), None)


def list_trainers(config: RunConfig) -> dict[str, str]:
    """Returns task name to address of the tasks that train.

    A worker at the address of the chief is left out: it is the chief under its second name.
    """
    trainers = list_addresses(config, cluster.CHIEF, cluster.MASTER, cluster.WORKER)
    chief, own_name = find_chief(config) or "", name_task(config)
    return {
        name: address
        for name, address in trainers.items()
        if name in (chief, own_name) or address != trainers.get(chief)
    }


def list_other_trainers(config: RunConfig) -> dict[str, str]:
    """Returns task name to address of the tasks that train with this one."""
    own_name = name_task(config)
    return {name: address for name, address in list_trainers(config).items() if name != own_name}


def find_max_wait_secs(config: RunConfig) -> float:
    """Returns the maximum number of seconds to wait for other tasks."""
    secs = config.session_creation_timeout_secs
    return math.inf if secs is None else float(secs)


def is_reachable(address: str) -> bool:
    """Returns whether a process listens at "host:port"."""
    try:
        with _connect(address):
            return True
    except OSError:
        return False


def answers(address: str) -> bool:
    """Returns whether a gRPC server at "host:port" answers.

    A suspended process still accepts connections. So this function sends the preface of HTTP/2
    (RFC 9113, section 3.4) and waits for the first frame of the server.
    """
    try:
        with _connect(address) as connection:
            connection.sendall(_GREETING)
            return bool(connection.recv(1))
    except OSError:
        return False


def _is_bound(address: str) -> bool:
    """Returns whether a socket of this machine listens at the port of "host:port"."""
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("", int(address.rpartition(":")[2])))
        except OSError:
            return True
    return False


def _connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS)


def wait_until_reachable(addresses: Mapping[str, str], seconds: float) -> None:
    """Waits until all of these tasks listen; logs every 30 seconds which ones are missing.

    Args:
      addresses: Task name to address.
      seconds: Maximum time to wait.

    Raises:
      DeadlineExceededError: The time is over.
      Preempted: A signal arrived that ends this job.
    """
    deadline, missing = Deadline(seconds), dict(addresses)
    while missing := {name: at for name, at in missing.items() if not is_reachable(at)}:
        preemption.raise_if_requested("waiting for other tasks")
        awaited = ", ".join(f"{name} at {address}" for name, address in missing.items())
        deadline.wait(_POLL_SECS, f"for {awaited} to start")


class Deadline:
    """Deadline of a wait, which is logged every 30 seconds.

    Args:
      seconds: Maximum time to wait from now; by default the wait is only logged.
      is_usual: Whether the wait is part of every job, as an evaluator's for the next checkpoint: it
        is then logged at level INFO, otherwise at WARNING.
    """

    def __init__(self, seconds: float = math.inf, is_usual: bool = False) -> None:
        self._seconds = seconds
        self._clock = WaitClock(seconds, logging.INFO if is_usual else logging.WARNING)

    def wait(self, seconds: float, what: str) -> None:
        """Sleeps for some seconds, at most until the deadline.

        Args:
          seconds: Time to sleep.
          what: The end of the sentence "Waiting ...", for the log and the error.

        Raises:
          DeadlineExceededError: The deadline has passed.
        """
        if self._clock.count_left_secs() <= 0:
            raise tf.errors.DeadlineExceededError(
                None,
                None,
                f"Gave up waiting {what}, after {self._seconds:g} seconds "
                "(RunConfig.session_creation_timeout_secs).",
            )
        self._clock.log_if_due(what)
        with process_clock.spend(WAITING):
            time.sleep(max(0.0, min(seconds, self._clock.count_left_secs())))


def _find_server_of_program(config: RunConfig, address: str) -> str:
    """Returns the target of a server that the program or its strategy started before training.

    Raises:
      ValueError: Another process listens at the address.
    """
    target = f"grpc://{address}"
    own = f"/job:{config.task_type}/replica:0/task:{config.task_id}/"
    settings = tf.compat.v1.ConfigProto(
        operation_timeout_in_ms=int(1000 * _CONNECT_SECS), device_filters=[own.rstrip("/")]
    )
    try:
        with tf.compat.v1.Session(target, graph=tf.Graph(), config=settings) as session:
            if any(device.name.startswith(own) for device in session.list_devices()):
                strategies.keep_collectives_enabled()
                return target
    except tf.errors.OpError:
        pass
    raise ValueError(
        f"The port of {config.task_type} {config.task_id}, {address}, is taken by another "
        "process. Stop that one, or give the task another port in TF_CONFIG."
    )
