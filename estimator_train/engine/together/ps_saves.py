"""Checkpoints of asynchronous training: consistent ones, and their pace.

Without a pause, a worker could update a variable before the chief reads it, and its optimizer slot
after. The chief asks the workers to pause, waits until each has ended its step, saves, and lets
them continue. A worker that waits for something else, or is not in a session, makes no steps;
before its next one it sees the request. With SyncReplicasOptimizer a thread of the chief makes the
updates, so that a pause has no effect, and workers wait for the chief anyway.

At most one interval of steps can be lost: the other workers make steps while the chief writes a
checkpoint. So the chief begins to write before the interval is over, by as much time as the last
save took; if that is too late, the others wait. They wait for a chief that writes or is about to
write, but not for a chief that does neither, for example in a long step.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.tf_internals import tf_hooks
from estimator_train.engine.together.alone import needs_other_workers
from estimator_train.engine.together.ps_server import SharedCounter
from estimator_train.engine.together.server import Deadline, is_reachable, list_other_trainers
from estimator_train.engine.types import (
    GlobalStepHook,
    Listener,
    PassiveHook,
    RunArgs,
    RunContext,
    RunValues,
    SaverHook,
)
from estimator_train.goodput import WAITING, process_clock
from estimator_train.lifecycle import preemption
from estimator_train.run_config import RunConfig

_LOG = tf.get_logger()
_PAUSE_POLL_SECS = 0.005
_PROBE_SECS = 0.5
_MAX_WAIT_SECS = 60.0
_NO_REQUEST = 0
OutsideSteps: TypeAlias = Callable[[Any], contextlib.AbstractContextManager[None]]
_NO_LIMIT = tf.int64.max
# A worker makes at most two steps before it reads the limit, and one more in the final steps.
_STEPS_EACH = 3
_POLL_SECS = 0.02


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
                time.sleep(_PAUSE_POLL_SECS)


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
            deadline.wait(_PAUSE_POLL_SECS, "for the chief to write a checkpoint")


def _make_request_counter() -> SharedCounter:
    """Returns the number of the chief's request to pause; 0 if there is none."""
    return SharedCounter("request_to_pause", _NO_REQUEST)


def _make_active_counter(name: str) -> SharedCounter:
    """Returns 1 while a worker has a session in which it makes steps, otherwise 0."""
    return SharedCounter(f"active_{name}", 0)


def _make_paused_counter(name: str) -> SharedCounter:
    """Returns the last request that a worker has followed."""
    return SharedCounter(f"paused_{name}", _NO_REQUEST)


def pace_saves(
    saver: SaverHook, schedule: SaveSchedule, config: RunConfig, steps_between_checks: int
) -> None:
    """Makes a chief write checkpoints early enough, if other workers train asynchronously.

    Args:
      saver: The chief's saver hook; the default graph is complete, and no session is open.
      schedule: The schedule of the hook.
      config: The configuration of the training, its cluster resolved.
      steps_between_checks: Steps that each trainer makes in a loop before it reads the limit.
    """
    if needs_other_workers(tf.compat.v1.get_default_graph()):
        return
    steps, secs = config.save_checkpoints_steps, config.save_checkpoints_secs
    listener = SavePacingListener(
        schedule, steps, secs, config.num_worker_replicas, steps_between_checks
    )
    pause = PauseWorkersListener(list_other_trainers(config))
    tf_hooks.add_listeners(saver, [pause, listener], first=True)


class SavePacingListener(Listener):
    """Listener by which a chief saves early, and limits the steps before the next checkpoint.

    It is the first listener of the saver hook.

    Args:
      schedule: The schedule of the chief's saver hook.
      steps: Steps between two checkpoints; None if `secs` is set.
      secs: Seconds between two checkpoints, if `steps` is None.
      trainers: Number of processes that train.
      steps_between_checks: Steps that each of them makes in a loop before it reads the limit.
    """

    def __init__(
        self,
        schedule: SaveSchedule,
        steps: int | None,
        secs: float | None,
        trainers: int,
        steps_between_checks: int,
    ) -> None:
        self._schedule, self._steps, self._secs = schedule, steps, secs
        self._under_way = (trainers - 1) * (_STEPS_EACH + steps_between_checks) + 1
        self._last: tuple[float, int] | None = None

    def begin(self) -> None:
        """Adds the shared counters to the graph."""
        self._limit, self._writing = _create_shared_counters()

    def before_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Announces that a checkpoint is being written."""
        self._began = time.monotonic()
        self._writing.set(session, 1)

    def after_save(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Sets the limit for the others, and when the next checkpoint is due."""
        took = time.monotonic() - self._began
        if self._steps is None:
            assert self._secs is not None
            self._schedule.set_interval(secs=self._secs - min(took, self._secs / 2))
        else:
            needed = self._under_way + math.ceil(took * self._pace(global_step_value))
            interval = self._steps - min(needed, self._steps // 2)
            self._schedule.set_interval(steps=interval)
            # With a short interval, a worker that starts after the chief must not delay the others.
            more = max(interval, self._steps - self._under_way)
            self._limit.set(session, global_step_value + more)
        self._writing.set(session, 0)

    def end(self, session: tf.compat.v1.Session, global_step_value: int) -> None:
        """Removes the limit."""
        self._limit.set(session, _NO_LIMIT)

    def _pace(self, global_step: int) -> float:
        """Returns the steps per second of all trainers since the last checkpoint."""
        last, self._last = self._last, (self._began, global_step)
        if last is None or global_step < last[1]:
            return 0.0
        return (global_step - last[1]) / (self._began - last[0])


class WaitForSaveHook(GlobalStepHook):
    """Hook that blocks a worker as long as more steps than one interval could be lost.

    Args:
      is_over: Returns whether the chief has ended; blocks while the chief is unreachable.
      until: A global step from which another hook pauses this worker, or None.
      outside_steps: Returns a context in which the chief may save while this worker waits.
    """

    def __init__(
        self,
        is_over: Callable[[], bool],
        until: int | None,
        outside_steps: OutsideSteps = contextlib.nullcontext,
    ) -> None:
        self._is_over, self._outside_steps = is_over, outside_steps
        self._until = _NO_LIMIT if until is None else until
        self._ignored_limit: int | None = None
        self._has_logged = False

    def begin(self) -> None:
        """Finds the global step and the shared counters."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._limit, self._writing = _create_shared_counters()

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the chief's limit allows for loops."""

    def before_run(self, run_context: RunContext) -> RunArgs:
        """Requests the global step and the limit."""
        return RunArgs([self._step_read, self._limit.value])

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Waits at the limit."""
        before, limit = run_values.results
        if before + 1 >= limit and limit != self._ignored_limit:
            with self._outside_steps(run_context.session):
                self._wait(run_context.session)

    def _wait(self, session: tf.compat.v1.Session) -> None:
        wrote_at, deadline = time.monotonic(), Deadline()
        while not (self._is_over() or preemption.is_requested()):
            step, limit, writing = session.run(
                [self._global_step, self._limit.value, self._writing.value]
            )
            if step < limit or step >= self._until:
                return
            if not self._has_logged:
                self._has_logged = True
                _LOG.info(
                    "Global step %d is one checkpoint interval after the last checkpoint: waiting "
                    "for the chief to write the next. Later waits of this kind are not logged.",
                    step,
                )
            if writing:
                wrote_at = time.monotonic()
            elif time.monotonic() - wrote_at > _MAX_WAIT_SECS:
                _LOG.warning(
                    "The chief has written no checkpoint for %d seconds; training continues beyond "
                    "step %d, so that a failure may cost more than one checkpoint interval.",
                    _MAX_WAIT_SECS,
                    step,
                )
                self._ignored_limit = int(limit)
                return
            deadline.wait(_POLL_SECS, "for the chief to write the next checkpoint")


def _create_shared_counters() -> tuple[SharedCounter, SharedCounter]:
    """Returns the global step at which workers wait, and 1 while the chief writes, otherwise 0."""
    return SharedCounter("save_limit", _NO_LIMIT), SharedCounter("is_writing", 0)
