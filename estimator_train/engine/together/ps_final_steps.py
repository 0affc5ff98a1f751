"""The last steps of an asynchronous training, which ends at exactly its last global step.

A step of another worker that runs while the chief makes the last one would count beyond it. So the
other workers pause a few steps before the end, and the chief makes the final steps alone. The
workers resume if the global step goes back, to the checkpoint that a new chief restored. With
SyncReplicasOptimizer there is no pause: its steps need all workers.
"""

import contextlib
import time
from collections.abc import Callable, Mapping

import tensorflow as tf

from estimator_train.engine.together.alone import needs_other_workers
from estimator_train.engine.together.ps_saves import OutsideSteps
from estimator_train.engine.together.server import Deadline, is_reachable
from estimator_train.engine.types import GlobalStepHook, RunContext, RunValues
from estimator_train.lifecycle import preemption

_LOG = tf.get_logger()
# A worker that reads the global step as its step begins makes at most two more steps.
_STEPS_EACH = 2
_POLL_SECS = 0.3
# A worker that does not report a pause for this long may belong to another training.
_MAX_WAIT_SECS = 120.0


class _FinalStepsHook(GlobalStepHook):
    """Hook that acts in the window of final steps; in a new session before its first step.

    Args:
      last_step: The global step at which the training ends.
      trainers: Number of processes that train.
      steps_between_checks: Steps that each of them makes in a loop before it reads the global step.

    Attributes:
      first: The global step at which the window begins.
    """

    def __init__(self, last_step: int, trainers: int, steps_between_checks: int) -> None:
        self._last_step = last_step
        self.first = last_step - (_STEPS_EACH + steps_between_checks) * trainers - 1

    def begin(self) -> None:
        """Finds the global step."""
        super().begin()
        self._global_step = tf.compat.v1.train.get_global_step()
        self._is_needed = not needs_other_workers(self._global_step.graph)

    def steps_until_due(self, global_step: int) -> int | None:
        """Returns the steps up to the window; None in the window."""
        is_before = self._is_needed and global_step < self.first
        return self.first - global_step if is_before else None

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Acts if the session begins in the window."""
        if self._is_in_window(session.run(self._step_read)) and self._act(session):
            coord.request_stop()

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Acts if the window has begun."""
        if self._is_in_window(run_values.results + 1) and self._act(run_context.session):
            run_context.request_stop()

    def _is_in_window(self, step: int) -> bool:
        return self._is_needed and step >= self.first

    def _act(self, session: tf.compat.v1.Session) -> bool:
        """Acts in the window; returns whether this process stops."""
        raise NotImplementedError


class PauseBeforeFinalStepsHook(_FinalStepsHook):
    """Hook by which a worker pauses before the final steps until the chief has ended.

    Args:
      last_step: The global step at which the training ends.
      trainers: Number of processes that train.
      report_pause: Tells the chief whether this worker pauses.
      has_chief_ended: Returns whether the chief has ended the training.
      max_wait_secs: Seconds to wait for the chief.
      steps_between_checks: Steps that each trainer makes in a loop before it reads the global step.
      outside_steps: Returns a context in which the chief may save while this worker waits.
    """

    def __init__(
        self,
        last_step: int,
        trainers: int,
        report_pause: Callable[[bool], None],
        has_chief_ended: Callable[[], bool],
        max_wait_secs: float,
        steps_between_checks: int = 0,
        outside_steps: OutsideSteps = contextlib.nullcontext,
    ) -> None:
        super().__init__(last_step, trainers, steps_between_checks)
        self._outside_steps = outside_steps
        self._report_pause, self._has_chief_ended = report_pause, has_chief_ended
        self._max_wait_secs = max_wait_secs

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Pauses if the session begins in the window."""
        self._report_pause(False)  # Clears the report of an earlier process or session.
        super().after_create_session(session, coord)

    def _act(self, session: tf.compat.v1.Session) -> bool:
        _LOG.info(
            "Waiting: the chief alone makes the last steps, up to global step %d.", self._last_step
        )
        with self._outside_steps(session):
            return self._wait_for_end(session)

    def _wait_for_end(self, session: tf.compat.v1.Session) -> bool:
        """Waits until the chief has ended or restored an older step; returns whether it ended."""
        deadline = Deadline(self._max_wait_secs)
        self._report_pause(True)
        while not preemption.is_requested():
            if self._has_chief_ended():
                return True
            # The report comes before the second read: a chief that sees no pause keeps waiting.
            if session.run(self._global_step) < self.first:
                self._report_pause(False)
                if session.run(self._global_step) < self.first:
                    return False
                self._report_pause(True)
            deadline.wait(_POLL_SECS, "for the chief to make the last steps")
        return True


class WaitBeforeFinalStepsHook(_FinalStepsHook):
    """Hook by which the chief waits before the final steps until no other worker makes any.

    Args:
      last_step: The global step at which the training ends.
      others: Name to address of the other workers.
      find_paused: Returns the names of the workers that pause or have ended this training.
      steps_between_checks: Steps that each trainer makes in a loop before it reads the global step.
    """

    def __init__(
        self,
        last_step: int,
        others: Mapping[str, str],
        find_paused: Callable[[], set[str]],
        steps_between_checks: int = 0,
    ) -> None:
        super().__init__(last_step, len(others) + 1, steps_between_checks)
        self._others, self._find_paused = others, find_paused

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Waits if the session begins in the window."""
        self._has_waited = False
        super().after_create_session(session, coord)

    def _act(self, session: tf.compat.v1.Session) -> bool:
        if not self._has_waited:
            self._has_waited = True
            self._wait_for_pauses()
        return bool(session.run(self._global_step) >= self._last_step)

    def _wait_for_pauses(self) -> None:
        end = time.monotonic() + _MAX_WAIT_SECS
        while (active := self._find_active()) and not preemption.is_requested():
            if time.monotonic() >= end:
                _LOG.warning(
                    "No longer waiting for %s to pause before the last steps.", ", ".join(active)
                )
                return
            time.sleep(_POLL_SECS)

    def _find_active(self) -> list[str]:
        # A worker that starts later finds that the window has begun, and pauses.
        active = [name for name, address in self._others.items() if is_reachable(address)]
        if not active:
            return []
        try:
            paused = self._find_paused()
        except tf.errors.OpError:  # A parameter server restarts.
            return active
        return [name for name in active if name not in paused]
