"""A notice board on the parameter servers: who has ended, or pauses, in which call of `train`.

A parameter server serves until all others have ended; a worker stops when the chief has, since
nobody would save what it learns then. Who pauses leaves the last steps to the chief.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.distributed.ps_table import table_of
from estimator_train.engine.distributed.server import Patience, is_reachable
from estimator_train.engine.hook_types import PassiveHook, RunContext, RunValues
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
_OPERATION_SECS = 10
_LOOK_EVERY_SECS = 5.0
_LOOK_AT_CHIEF_SECS = 0.5
_TABLE = "estimator_train/calls_ended"


class Notes:
    """Reads and writes the boards of a cluster; each parameter server has one.

    Args:
      target: The server of this task.
      own_device: This task, "/job:worker/task:1".
      ps: Task index to address of the parameter servers to use.
    """

    def __init__(self, target: str, own_device: str, ps: Mapping[int, str]) -> None:
        self._target = target
        self._own_device = own_device
        self._ps = ps

    def write(self, task: str, calls: int) -> None:
        """Notes a number by the name of a task: the calls of `train` that it has ended."""
        # A session waits for all tasks that it may see, without a limit if one is gone.
        reachable = [index for index, address in self._ps.items() if is_reachable(address)]
        if len(reachable) < len(self._ps):
            _LOG.warning("Some parameter servers did not answer: they may wait for %s.", task)
        if not reachable:
            return
        with tf.Graph().as_default() as graph:
            notes = []
            for index in reachable:
                with tf.device(f"/job:ps/task:{index}"):
                    notes.append(
                        tf.raw_ops.LookupTableInsertV2(
                            table_handle=table_of(_TABLE),
                            keys=tf.constant([task]),
                            values=tf.constant([calls], tf.int64),
                        )
                    )
        with self._session(graph, reachable) as session:
            session.run(notes)

    def read(self) -> dict[str, int]:
        """Task name ("worker:1") to the calls that it has ended, by the first board in reach."""
        for index, address in self._ps.items():
            if is_reachable(address):
                with tf.Graph().as_default() as graph, tf.device(f"/job:ps/task:{index}"):
                    notes = tf.raw_ops.LookupTableExportV2(
                        table_handle=table_of(_TABLE), Tkeys=tf.string, Tvalues=tf.int64
                    )
                with self._session(graph, [index]) as session:
                    keys, values = session.run(notes)
                return {key.decode(): int(value) for key, value in zip(keys, values, strict=True)}
        return {}

    def _session(self, graph: tf.Graph, ps: list[int]) -> tf.compat.v1.Session:
        filters = [self._own_device, *(f"/job:ps/task:{index}" for index in ps)]
        config = tf.compat.v1.ConfigProto(
            device_filters=filters, operation_timeout_in_ms=1000 * _OPERATION_SECS
        )
        return tf.compat.v1.Session(self._target, graph=graph, config=config)


class GoOnWithChief(PassiveHook):
    """Stops a worker when the chief has ended the same call of `train`; holds it while it is gone.

    What is learned while there is no chief is lost: nobody saves it, and the next chief goes back
    to the last checkpoint.

    Args:
      board: Where the chief says that it has ended.
      chief: The chief's name, "chief:0".
      address: The chief's address.
      call: The number of this call.
      patience: Seconds to wait for a chief that is gone.
    """

    def __init__(self, board: Notes, chief: str, address: str, call: int, patience: float) -> None:
        self._board, self._chief, self._address, self._call = board, chief, address, call
        self._patience = patience
        self._chief_ended = threading.Event()
        self._chief_gone = threading.Event()
        self._session_ended = threading.Event()

    def begin(self) -> None:
        """Begins to look for the chief, beside the training."""
        self._session_ended.clear()
        self._chief_gone.clear()
        threading.Thread(target=self._watch, name="go_on_with_chief", daemon=True).start()

    def after_loop(self, steps: int, loss: Any) -> bool:
        """Stops when the chief has ended; waits as long as it is gone."""
        return self.is_over()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Stops when the chief has ended; waits as long as it is gone."""
        del run_values
        if self.is_over():
            _LOG.info("Stopping: %s has ended, which ends the training.", self._chief)
            run_context.request_stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Looks no more."""
        del session
        self._session_ended.set()

    def is_over(self) -> bool:
        """Whether the chief was seen to have ended the call; waits as long as it is gone."""
        if self._chief_gone.is_set():
            self._wait()
        return self._chief_ended.is_set()

    def has_ended(self) -> bool:
        """Whether the chief has ended the call, as far as a board in reach says."""
        try:
            return self._board.read().get(self._chief, 0) >= self._call
        except tf.errors.OpError:
            return False  # A parameter server that restarts; training itself knows what to do.

    def _wait(self) -> None:
        _LOG.info("%s is gone; training continues when it is back.", self._chief)
        patience = Patience(self._patience)
        while self._chief_gone.is_set() and not self._chief_ended.is_set():
            if preemption.requested():
                return
            patience.wait(_LOOK_AT_CHIEF_SECS, f"for {self._chief} at {self._address}")

    def _watch(self) -> None:
        was_there, looked = False, time.monotonic()
        while not self._session_ended.wait(_LOOK_AT_CHIEF_SECS):
            is_there = is_reachable(self._address)
            was_there |= is_there
            if time.monotonic() - looked >= _LOOK_EVERY_SECS or not is_there:
                looked = time.monotonic()
                if self.has_ended():
                    self._chief_ended.set()
                    return
            # Where workers cannot reach the chief at all, this says nothing.
            (self._chief_gone.set if was_there and not is_there else self._chief_gone.clear)()
