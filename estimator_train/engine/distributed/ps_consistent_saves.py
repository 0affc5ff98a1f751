"""Consistent checkpoints from parameter servers: no worker is within a step while the chief saves.

Without this pause, a worker could update a variable before the chief reads it, and its optimizer
slot after. The chief asks the workers to pause, waits until each has ended its step, saves, and
lets them continue. A worker that waits for something else, or is not in a session, makes no steps;
before its next one it sees the request. With SyncReplicasOptimizer a thread of the chief makes the
updates, so that a pause has no effect.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.distributed.ps_table import SharedCounter
from estimator_train.engine.distributed.server import Deadline, is_reachable
from estimator_train.engine.hook_types import (
    Listener,
    PassiveHook,
    RunArgs,
    RunContext,
    RunValues,
)
from estimator_train.goodput.clock import WAITING, process_clock
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
_POLL_SECS = 0.005
_PROBE_SECS = 0.5
_MAX_WAIT_SECS = 60.0
_NO_REQUEST = 0
OutsideSteps: TypeAlias = Callable[[Any], contextlib.AbstractContextManager[None]]


class PauseWorkersListener(Listener):
    """Listener by which a chief pauses the workers while it saves; the first of its saver hook.

    Args:
      workers: The addresses of the other tasks that train, by their names.
    """

    def __init__(self, workers: Mapping[str, str]) -> None:
        self._workers = workers
        self._requests = 0

    def begin(self) -> None:
        """Adds the shared counters to the graph."""
        self._request = _make_request_counter()
        self._active = {name: _make_active_counter(name) for name in self._workers}
        self._paused = {name: _make_paused_counter(name) for name in self._workers}

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Waits until no worker is within a step."""
        self._requests = max(self._requests + 1, time.time_ns())  # Above those of an earlier chief.
        self._request.set(session, self._requests)
        with process_clock.spend(WAITING):
            self._wait(session)

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Lets the workers continue."""
        self._request.set(session, _NO_REQUEST)

    def _wait(self, session: tf.compat.v1.Session) -> None:
        began = time.monotonic()
        probed = began
        running = set(self._workers)
        fetches = [(self._active[name].value, self._paused[name].value) for name in self._workers]
        while running and not preemption.is_requested():
            states = dict(zip(self._workers, session.run(fetches), strict=True))
            running = {
                name for name in running if states[name][0] and states[name][1] != self._requests
            }
            now = time.monotonic()
            if running and now - probed > _PROBE_SECS:
                probed = now
                running = {name for name in running if is_reachable(self._workers[name])}
            if running and now - began > _MAX_WAIT_SECS:
                _LOG.warning(
                    "The checkpoint may hold half of a step of %s, which did not pause within %d "
                    "seconds.",
                    ", ".join(sorted(running)),
                    _MAX_WAIT_SECS,
                )
                return
            if running:
                time.sleep(_POLL_SECS)


class PauseForSaveHook(PassiveHook):
    """Hook by which a worker pauses between two steps while the chief saves, never within a loop.

    Args:
      name: The name of the task, such as "worker:1".
      is_over: Returns whether the chief has ended; blocks while the chief is unreachable.
    """

    def __init__(self, name: str, is_over: Callable[[], bool]) -> None:
        self._name, self._is_over = name, is_over

    def begin(self) -> None:
        """Adds the shared counters to the graph."""
        self._request = _make_request_counter()
        self._active = _make_active_counter(self._name)
        self._paused = _make_paused_counter(self._name)

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Reports that this worker makes steps, and pauses if the chief saves."""
        self._enter_steps(session)

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the counter of the chief."""
        return RunArgs(self._request.value)

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Pauses if the chief saves."""
        self._pause(run_context.session, int(run_values.results))

    def end(self, session: tf.compat.v1.Session) -> None:
        """Reports that this worker makes no more steps."""
        self._active.set(session, 0)

    @contextlib.contextmanager
    def allow_saves(self, session: tf.compat.v1.Session) -> Iterator[None]:
        """Lets the chief save while the with block waits for something else."""
        self._active.set(session, 0)
        yield
        self._enter_steps(session)

    def _enter_steps(self, session: tf.compat.v1.Session) -> None:
        self._active.set(session, 1)
        self._pause(session, int(session.run(self._request.value)))

    def _pause(self, session: tf.compat.v1.Session, request: int) -> None:
        if request == _NO_REQUEST:
            return
        deadline = Deadline()
        acknowledged = _NO_REQUEST
        while not (self._is_over() or preemption.is_requested()):
            request = int(session.run(self._request.value))
            if request == _NO_REQUEST:
                return
            if request != acknowledged:
                self._paused.set(session, request)
                acknowledged = request
            deadline.wait(_POLL_SECS, "for the chief to write a checkpoint")


def _make_request_counter() -> SharedCounter:
    """Returns the number of the chief's request to pause; 0 if there is none."""
    return SharedCounter("request_to_pause", _NO_REQUEST)


def _make_active_counter(name: str) -> SharedCounter:
    """Returns 1 while a worker has a session in which it makes steps, otherwise 0."""
    return SharedCounter(f"active_{name}", 0)


def _make_paused_counter(name: str) -> SharedCounter:
    """Returns the last request that a worker has followed."""
    return SharedCounter(f"paused_{name}", _NO_REQUEST)
