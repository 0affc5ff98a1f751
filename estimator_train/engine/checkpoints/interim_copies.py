"""Copies of the variables in shared memory between two checkpoints.

A task that `estimator-train launch` restarts continues from the last copy, and so loses fewer steps
than a checkpoint interval has.
"""

import functools
import math
import time
from typing import Any

import tensorflow as tf

from estimator_train.engine.checkpoints.async_saver import MAX_COPIED_BYTES, AsyncSaver
from estimator_train.engine.checkpoints.integrity import fingerprint_checkpoint
from estimator_train.engine.checkpoints.large_values import find_written_values
from estimator_train.engine.checkpoints.memory_copy import keep_interim_copy
from estimator_train.engine.checkpoints.reading import read_global_step
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.tf_internals.constants import count_bytes
from estimator_train.engine.types import (
    HookPhase,
    Loss,
    PassiveHook,
    PhasedHook,
    RunContext,
    RunValues,
    SaverHook,
)
from estimator_train.goodput import CHECKPOINTS, process_clock

_MIN_INTERVAL_SECS = 0.5
_MAX_SHARE_OF_TIME = 0.015


class InterimCopyHook(PassiveHook, PhasedHook):
    """Hook that copies the variables into shared memory, at a small share of the time.

    It comes after the check of the loss, so that it copies no step that is known to have failed.

    Args:
      saver: The saver that writes the checkpoints.
      saver_hook: The hook that saves checkpoints with it.
    """

    phase = HookPhase.AFTER_ALL

    def __init__(self, saver: AsyncSaver, saver_hook: SaverHook) -> None:
        self._saver, self._saver_hook = saver, saver_hook
        self._session: tf.compat.v1.Session | None = None
        self._due: float | None = None
        self._is_first = True
        self._measured_graph: tf.Graph | None = None
        self._bytes = 0

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Counts the interval of checkpoints from the latest one, not from a restored copy."""
        self._session, self._due, self._is_first = session, None, True
        checkpoint = self._saver.checkpoint_before_copy
        if checkpoint is None:
            return
        files = fingerprint_checkpoint(checkpoint)
        if files:
            age = max(0.0, time.time() - int(files[0][2]) / 1e9)
            step = read_global_step(checkpoint)
            tf_hooks.count_as_saved_before(self._saver_hook, step, time.monotonic() - age)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Copies the variables if a copy is due."""
        self._copy_if_due(run_context.session)

    def after_loop(self, steps: int, loss: Loss) -> None:
        """Copies the variables if a copy is due."""
        assert self._session is not None
        self._copy_if_due(self._session)

    def _copy_if_due(self, session: tf.compat.v1.Session) -> None:
        start = time.monotonic()
        if self._due is None:  # The first step of a session takes seconds.
            self._due = start + _MIN_INTERVAL_SECS
        if start < self._due or self._saver.is_writing:
            return
        self._due = math.inf
        with process_clock.spend(CHECKPOINTS):
            if not self._saver.asynchronous:
                self._write(session, start)
                return
            frozen = self._saver.copy_values(session)
        if frozen is not None:
            self._saver.start_writing(functools.partial(self._write, frozen, start))

    def _write(self, session: Any, start: float) -> None:
        """Writes a copy and decides when the next is due; without room there is no other.

        Args:
          session: The session of the values.
          start: The time at which the copy began.
        """
        if not self._write_values(session):
            return
        end = time.monotonic()
        secs = (end - start) / _MAX_SHARE_OF_TIME
        # The first copy of a session prepares the operations of all.
        secs = 0.0 if self._is_first else secs
        self._is_first = False
        self._due = end + max(_MIN_INTERVAL_SECS, secs)

    def _write_values(self, session: Any) -> bool:
        """Writes the values of a session into shared memory; returns whether there is room."""
        if not self._saver.saves_as_tensorflow:
            return False
        definition = self._saver.saver_def
        if self._measured_graph is not session.graph:
            save_tensor = session.graph.as_graph_element(definition.save_tensor_name)
            self._bytes = sum(map(count_bytes, find_written_values(save_tensor.op)))
            self._measured_graph = session.graph
        if self._bytes > MAX_COPIED_BYTES:
            return False

        def write(prefix: str) -> None:
            session.run(definition.save_tensor_name, {definition.filename_tensor_name: prefix})

        return keep_interim_copy(self._bytes, write)
