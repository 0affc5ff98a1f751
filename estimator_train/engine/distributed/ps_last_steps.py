"""Ending an asynchronous training at exactly its last global step.

A step of another worker may be under way when the chief makes the last one, and would count beyond
it. So the other workers pause a few steps before, and the chief makes those that are left alone.
They go on where the global step goes back, to the checkpoint that a new chief starts from. Workers
with SyncReplicasOptimizer need none of this, and the chief can make none alone.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.distributed.server import Patience, is_reachable
from estimator_train.engine.hook_types import GlobalStepHook, RunContext, RunValues
from estimator_train.engine.loops.training_loop import needs_other_workers
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
# A worker that reads the global step as its step begins makes at most two before it knows.
_STEPS_EACH = 2
_LOOK_EVERY_SECS = 0.3
# A worker that says nothing for so long may be busy with something else than this training.
_LONGEST_WAIT_SECS = 120.0


class _NearTheEnd(GlobalStepHook):
    """Does something once the last steps have come, in a new session before its first step.

    Attributes:
      first: The global step at which they have come.

    Args:
      last_step: The global step at which the training ends.
      trainers: How many processes train.
      unseen: Steps that each of them makes in a loop before it looks.
    """

    def __init__(self, last_step: int, trainers: int, unseen: int) -> None:
        self._last_step = last_step
        self.first = last_step - (_STEPS_EACH + unseen) * trainers - 1

    def begin(self) -> None:
        """Finds the global step."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._is_needed = not needs_other_workers(self._global_step.graph)

    def steps_until_due(self, global_step: int) -> int | None:
        """The first of the last steps, unless they have come."""
        waits = self._is_needed and global_step < self.first
        return self.first - global_step if waits else None

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Looks where training goes on."""
        if self._have_come(session.run(self._step_read)) and self._come(session):
            coord.request_stop()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Looks whether they have come."""
        if self._have_come(run_values.results + 1) and self._come(run_context.session):
            run_context.request_stop()

    def _have_come(self, step: int) -> bool:
        return self._is_needed and step >= self.first

    def _come(self, session: tf.compat.v1.Session) -> bool:
        """Called when they have come; returns whether this process stops."""
        raise NotImplementedError


class LeaveLastSteps(_NearTheEnd):
    """Has a worker that is not the chief pause before the last steps, until the chief has ended.

    Args:
      last_step: The global step at which the training ends.
      trainers: How many processes train.
      tell: Tells the chief whether this worker pauses.
      has_ended: Whether the chief has ended the training.
      patience: Seconds to wait for that.
      unseen: Steps that each trainer makes in a loop before it looks.
    """

    def __init__(
        self,
        last_step: int,
        trainers: int,
        tell: Callable[[bool], None],
        has_ended: Callable[[], bool],
        patience: float,
        unseen: int = 0,
    ) -> None:
        super().__init__(last_step, trainers, unseen)
        self._tell, self._has_ended, self._patience = tell, has_ended, patience

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Pauses, if training goes on in the last steps."""
        self._tell(False)  # A process or a session before this one may have said something else.
        super().after_create_session(session, coord)

    def _come(self, session: tf.compat.v1.Session) -> bool:
        _LOG.info(
            "Waiting: the chief alone makes the last steps, up to global step %d.", self._last_step
        )
        patience = Patience(self._patience)
        self._tell(True)
        while not preemption.requested():
            if self._has_ended():
                return True
            # In this order: a chief in the last steps who has seen no pause waits for the next.
            if session.run(self._global_step) < self.first:
                self._tell(False)
                if session.run(self._global_step) < self.first:
                    return False
                self._tell(True)
            patience.wait(_LOOK_EVERY_SECS, "for the chief to make the last steps")
        return True


class MakeLastSteps(_NearTheEnd):
    """Has the chief wait before the last steps, until no other worker makes any.

    Args:
      last_step: The global step at which the training ends.
      others: Name to address of the other workers.
      at_rest: Returns the names of those that pause or have ended this training.
      unseen: Steps that each trainer makes in a loop before it looks.
    """

    def __init__(
        self,
        last_step: int,
        others: Mapping[str, str],
        at_rest: Callable[[], set[str]],
        unseen: int = 0,
    ) -> None:
        super().__init__(last_step, len(others) + 1, unseen)
        self._others, self._at_rest = others, at_rest

    def after_create_session(self, session: tf.compat.v1.Session, coord: Any) -> None:
        """Waits, if training goes on in the last steps."""
        self._are_waited_for = False
        super().after_create_session(session, coord)

    def _come(self, session: tf.compat.v1.Session) -> bool:
        if not self._are_waited_for:
            self._are_waited_for = True
            self._wait()
        return bool(session.run(self._global_step) >= self._last_step)

    def _wait(self) -> None:
        end = time.monotonic() + _LONGEST_WAIT_SECS
        while (active := self._active()) and not preemption.requested():
            if time.monotonic() >= end:
                _LOG.warning(
                    "No longer waiting for %s to pause before the last steps.", ", ".join(active)
                )
                return
            time.sleep(_LOOK_EVERY_SECS)

    def _active(self) -> list[str]:
        # Who is not there now finds the last steps begun when it comes.
        active = [name for name, address in self._others.items() if is_reachable(address)]
        if not active:
            return []
        try:
            at_rest = self._at_rest()
        except tf.errors.OpError:  # Of a parameter server that restarts.
            return active
        return [name for name in active if name not in at_rest]
