"""A parameter server during a call of `train`, the waits of other tasks for it, and its tables.

By the tables tasks share numbers and the calls of `train` that they ended.

A parameter server serves until all other tasks have ended. A worker stops when the chief has ended,
since no process would save its further steps. A worker that pauses leaves the final steps to the
chief.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Mapping

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.together.server import (
    Deadline,
    answers,
    find_chief,
    find_max_wait_secs,
    is_reachable,
    list_addresses,
    list_trainers,
    list_training_jobs,
    start_server,
    wait_until_reachable,
)
from estimator_train.engine.types import Loss, PassiveHook, RunContext, RunValues
from estimator_train.lifecycle import preemption
from estimator_train.lifecycle.limits import limit_wait
from estimator_train.lifecycle.preemption import handle_preemption
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_OPERATION_SECS = 10
_READ_EVERY_SECS = 5.0
_PROBE_CHIEF_SECS = 0.5
_TABLE = "estimator_train/calls_ended"
_COUNTERS = "estimator_train/counters"
_POLL_SECS = 0.5
_LIMIT_SETTING = "session_creation_timeout_secs"
# Time for workers to end after the chief has, before parameter servers end.
_GRACE_SECS = 120.0
# A wait inside TensorFlow raises at the limit; the watchdog ends the process this much later.
_WATCHDOG_DELAY_SECS = 5.0
_calls = itertools.count(1)


def _open_table(name: str) -> tf.Tensor:
    """Returns the table of a name on the current device, from strings to int64.

    All sessions that use the device share the table.
    """
    return tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, shared_name=name
    )


class SharedCounter:
    """Number on the first parameter server, which one task sets and the others read.

    Args:
      name: The name of the number, unique in the cluster.
      default: The value before a task has set one.

    Attributes:
      value: Tensor of the number, an int64 scalar.
    """

    def __init__(self, name: str, default: int) -> None:
        scope = f"shared_{name.replace(':', '_')}"
        with tf.device("/job:ps/task:0"), tf.name_scope(scope):
            handle, key = _open_table(_COUNTERS), tf.constant(name)
            self.value = tf.raw_ops.LookupTableFindV2(
                table_handle=handle, keys=key, default_value=tf.constant(default, tf.int64)
            )
            self._new_value = tf.compat.v1.placeholder(tf.int64, [])
            self._set = tf.raw_ops.LookupTableInsertV2(
                table_handle=handle, keys=key, values=self._new_value
            )

    def set(self, session: tf.compat.v1.Session, value: int) -> None:
        """Sets the number."""
        session.run(self._set, {self._new_value: value})


class StatusTable:
    """Table of the calls of `train` that each task has ended, with a copy on each parameter server.

    Args:
      target: The server of this task.
      own_device: The device of this task, such as "/job:worker/task:1".
      ps: Task index to address of the parameter servers to use.
    """

    def __init__(self, target: str, own_device: str, ps: Mapping[int, str]) -> None:
        self._target = target
        self._own_device = own_device
        self._ps = ps

    def write(self, task: str, calls: int) -> None:
        """Writes how many calls of `train` a task has ended, or paused, under its name."""
        # A session waits without limit for a task in its filters that does not run.
        reachable = [index for index, address in self._ps.items() if is_reachable(address)]
        if len(reachable) < len(self._ps):
            _LOG.warning("Some parameter servers did not answer: they may wait for %s.", task)
        if not reachable:
            return
        with tf.Graph().as_default() as graph:
            inserts = []
            for index in reachable:
                with tf.device(f"/job:ps/task:{index}"):
                    inserts.append(
                        tf.raw_ops.LookupTableInsertV2(
                            table_handle=_open_table(_TABLE),
                            keys=tf.constant([task]),
                            values=tf.constant([calls], tf.int64),
                        )
                    )
        with self._open_session(graph, reachable) as session:
            session.run(inserts)

    def read(self) -> dict[str, int]:
        """Returns the calls by task name ("worker:1"), from the first reachable server."""
        for index, address in self._ps.items():
            if is_reachable(address):
                with tf.Graph().as_default() as graph, tf.device(f"/job:ps/task:{index}"):
                    export = tf.raw_ops.LookupTableExportV2(
                        table_handle=_open_table(_TABLE), Tkeys=tf.string, Tvalues=tf.int64
                    )
                with self._open_session(graph, [index]) as session:
                    keys, values = session.run(export)
                return {key.decode(): int(value) for key, value in zip(keys, values, strict=True)}
        return {}

    def _open_session(self, graph: tf.Graph, ps: list[int]) -> tf.compat.v1.Session:
        filters = [self._own_device, *(f"/job:ps/task:{index}" for index in ps)]
        config = tf.compat.v1.ConfigProto(
            device_filters=filters, operation_timeout_in_ms=1000 * _OPERATION_SECS
        )
        return tf.compat.v1.Session(self._target, graph=graph, config=config)


class FollowChiefHook(PassiveHook):
    """Hook that stops a worker when the chief has ended, and blocks while it is unreachable.

    Steps that a worker makes without a chief are lost: no process saves them, and the next chief
    restores the last checkpoint.

    Args:
      status: The table in which the chief reports that it has ended.
      chief: The chief's name, "chief:0".
      address: The chief's address.
      call: The number of this call of `train`.
      max_wait_secs: Seconds to wait for an unreachable chief.
    """

    def __init__(
        self, status: StatusTable, chief: str, address: str, call: int, max_wait_secs: float
    ) -> None:
        self._status, self._chief, self._address, self._call = status, chief, address, call
        self._max_wait_secs = max_wait_secs
        self._chief_ended = threading.Event()
        self._chief_unreachable = threading.Event()
        self._session_ended = threading.Event()

    def begin(self) -> None:
        """Starts a thread that watches the chief."""
        self._session_ended.clear()
        self._chief_unreachable.clear()
        threading.Thread(target=self._watch, name="follow_chief", daemon=True).start()

    def after_loop(self, steps: int, loss: Loss) -> bool:
        """Returns whether the chief has ended; blocks while it is unreachable."""
        return self.is_over()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops when the chief has ended; blocks while it is unreachable."""
        if self.is_over():
            _LOG.info("Stopping: %s has ended, which ends the training.", self._chief)
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Ends the thread."""
        self._session_ended.set()

    def is_over(self) -> bool:
        """Returns whether the thread saw that the chief has ended; blocks if it is unreachable."""
        if self._chief_unreachable.is_set():
            self._wait_for_chief()
        return self._chief_ended.is_set()

    def has_ended(self) -> bool:
        """Returns whether the chief has ended, according to a reachable parameter server."""
        try:
            return self._status.read().get(self._chief, 0) >= self._call
        except tf.errors.OpError:
            return False  # The parameter server restarts; the session recovers from that.

    def _wait_for_chief(self) -> None:
        _LOG.info("%s is gone; training continues when it is back.", self._chief)
        deadline = Deadline(self._max_wait_secs)
        while self._chief_unreachable.is_set() and not self._chief_ended.is_set():
            if preemption.is_requested():
                return
            deadline.wait(_PROBE_CHIEF_SECS, f"for {self._chief} at {self._address}")

    def _watch(self) -> None:
        """Watches the chief until the session ends; the body of a thread."""
        was_reachable, read_at = False, time.monotonic()
        while not self._session_ended.wait(_PROBE_CHIEF_SECS):
            reachable = is_reachable(self._address)
            was_reachable |= reachable
            if time.monotonic() - read_at >= _READ_EVERY_SECS or not reachable:
                read_at = time.monotonic()
                if self.has_ended():
                    self._chief_ended.set()
                    return
            # A chief that was never reachable may be blocked by the network.
            if was_reachable and not reachable:
                self._chief_unreachable.set()
            else:
                self._chief_unreachable.clear()


def count_call() -> int:
    """Returns the number of a call of `train` in this process.

    All tasks of a job run the same program, so that calls of the same number belong together.
    """
    return next(_calls)


def serve(config: RunConfig) -> None:
    """Serves variables until all trainers have ended the call of `train` of the same number.

    Args:
      config: A task of the job "ps".

    Raises:
      ValueError: The port of this task is taken.
      DeadlineExceededError: The chief was unreachable for session_creation_timeout_secs.
    """
    own_address = {config.task_id: list_training_jobs(config)[cluster.PS][config.task_id]}
    target = start_server(config)
    status = StatusTable(target, f"/job:ps/task:{config.task_id}", own_address)
    call = count_call()
    trainers = list_trainers(config)
    _LOG.info("Parameter server %d serves %s.", config.task_id, ", ".join(trainers))
    with (
        handle_preemption(config.preemption) as watch,
        watch.defer() if watch else contextlib.nullcontext(),
    ):
        _serve_until_ended(status, trainers, call, config)


def wait_for_ps(config: RunConfig) -> None:
    """Waits for the parameter servers; without them a session would wait and log nothing."""
    wait_until_reachable(list_addresses(config, cluster.PS), find_max_wait_secs(config))


class WaitForPsCreator(tf.compat.v1.train.SessionCreator):
    """Session creator that waits for the parameter servers, at first and after a failure.

    Args:
      config: The task and its cluster.
      creator: Creates the sessions.
    """

    def __init__(self, config: RunConfig, creator: tf.compat.v1.train.SessionCreator) -> None:
        self._config, self._creator = config, creator

    def create_session(self) -> tf.compat.v1.Session:
        """Waits and creates a session; a signal ends the wait immediately."""
        watch = preemption.find_current_watch()
        with watch.end_immediately() if watch else contextlib.nullcontext():
            wait_for_ps(self._config)
            what, limit = self._describe_wait()
            with limit_wait(what, limit, _LIMIT_SETTING):
                session = self._creator.create_session()
        self._limit_close(session)
        return session

    def _limit_close(self, session: tf.compat.v1.Session) -> None:
        """Limits how long the session may take to close.

        TensorFlow waits without limit for operations that a lost parameter server does not answer.
        """
        names = " and ".join(list_addresses(self._config, cluster.PS))
        limit = self._config.session_creation_timeout_secs

        def close() -> None:
            del session.close  # The next call, such as that of `__del__`, has no effect.
            with limit_wait(f"for {names} to answer as a session is closed", limit, _LIMIT_SETTING):
                session.close()

        session.close = close

    def _describe_wait(self) -> tuple[str, float | None]:
        """Returns a description of the wait for a session, and its limit in seconds."""
        names = " and ".join(list_addresses(self._config, cluster.PS))
        limit = self._config.session_creation_timeout_secs
        if self._config.is_chief:
            return f"for {names} to answer as a session is created", limit
        # The wait for the chief raises an error at the limit, with a better message.
        watchdog_limit = None if limit is None else limit + _WATCHDOG_DELAY_SECS
        return (
            f"for {names} to answer and for the chief to initialize the variables",
            watchdog_limit,
        )


def _serve_until_ended(
    status: StatusTable, trainers: dict[str, str], call: int, config: RunConfig
) -> None:
    chief = find_chief(config)
    deadline = Deadline(find_max_wait_secs(config))
    chief_ended: float | None = None
    while True:
        # After a signal, serve until all trainers have ended: the chief still saves.
        if preemption.is_requested() and not any(map(is_reachable, trainers.values())):
            preemption.raise_if_requested("serving")
        ended = status.read()
        active = [name for name in trainers if ended.get(name, 0) < call]
        if not active:
            return
        if chief in active:
            chief_ended = None
            if answers(trainers[chief]):
                deadline = Deadline(find_max_wait_secs(config))
                time.sleep(_POLL_SECS)
                continue
        elif chief_ended is None:
            chief_ended = time.monotonic()
        elif time.monotonic() - chief_ended > _GRACE_SECS:
            _LOG.warning("The chief has ended; no longer waiting for %s.", ", ".join(active))
            return
        deadline.wait(_POLL_SECS, f"for {', '.join(active)} to end")
