"""Status of the tasks, in tables on the parameter servers: which calls of `train` each has ended.

A parameter server serves until all other tasks have ended. A worker stops when the chief has ended,
since no process would save its further steps. A worker that pauses leaves the final steps to the
chief.
"""

import threading
import time
from collections.abc import Mapping

import tensorflow as tf

from estimator_train.engine.distributed.ps_table import open_table
from estimator_train.engine.distributed.server import Deadline, is_reachable
from estimator_train.engine.hook_types import Loss, PassiveHook, RunContext, RunValues
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
_OPERATION_SECS = 10
_READ_EVERY_SECS = 5.0
_PROBE_CHIEF_SECS = 0.5
_TABLE = "estimator_train/calls_ended"


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
                            table_handle=open_table(_TABLE),
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
                        table_handle=open_table(_TABLE), Tkeys=tf.string, Tvalues=tf.int64
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
