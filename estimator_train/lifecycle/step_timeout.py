"""Ends the process when a training step takes too long, after printing all stacks."""

import contextlib
import faulthandler
import sys
import threading
import time
from collections.abc import Iterator

import tensorflow as tf

from estimator_train.lifecycle.limits import SAY_EVERY_SECS, end_now

EXIT_CODE = 142  # The code of a process that SIGALRM ended: schedulers restart it.
_LOG = tf.get_logger()
# Longer than the optimization and compilation of any graph.
_FIRST_STEP_SECS = 3600.0
# The engine sizes loops of steps to last about a second.
_LOOP_SECS = 2.0


class StepTimeout:
    """Clock that runs during each step and ends the process when a step takes too long.

    A step of synchronous workers waits for every worker. The clock then logs a warning every 30
    seconds with the time that the step has taken. Without `secs`, the first step has a limit of one
    hour.

    Args:
      secs: The longest time of a step; None never ends the process.
      others: Names of the workers that a step waits for, or "".
    """

    def __init__(self, secs: float | None, others: str = "") -> None:
        self._secs, self._others = secs, others
        self._limit = _FIRST_STEP_SECS if secs is None and others else secs
        self._began: float | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs the clock during a loop of steps, which may take 2 seconds more than a step."""
        self.start(_LOOP_SECS)
        try:
            yield
        finally:
            self.stop()

    def start(self, more_secs: float = 0.0) -> None:
        """Starts the clock.

        Args:
          more_secs: Seconds to add to the limit.
        """
        if self._secs is None and not self._others:
            return
        self._began = time.monotonic() + more_secs
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="step-timeout", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stops the clock."""
        self._began = None
        self._limit = self._secs

    def close(self) -> None:
        """Ends the thread of the clock, which has started for the last time."""
        self._is_closed.set()

    def _watch(self) -> None:
        logged_step, logged_at = 0.0, 0.0
        # Polling costs the steps nothing; waking this thread at each step would.
        poll_secs = 1.0 if self._secs is None else min(1.0, self._secs / 4)
        while not self._is_closed.wait(poll_secs):
            began, limit = self._began, self._limit
            if began is None:
                continue
            took = time.monotonic() - began
            if limit is not None and took > limit:
                _end(limit)
            if began != logged_step:
                logged_step, logged_at = began, 0.0
            if self._others and took - logged_at >= SAY_EVERY_SECS:
                logged_at = took
                _LOG.warning("This step has taken %d s: waiting for %s.", took, self._others)


class StepTimeoutHook(tf.compat.v1.train.SessionRunHook):
    """Hook that runs the clock during each step, ahead of all other hooks so as to time only steps.

    Args:
      timeout: The clock.
    """

    def __init__(self, timeout: StepTimeout) -> None:
        self._timeout = timeout

    def steps_until_due(self, global_step: int) -> None:
        """Returns None: the hook needs no step outside of loops, which run the clock themselves."""

    def before_run(self, run_context: tf.compat.v1.train.SessionRunContext) -> None:
        """Starts the clock."""
        self._timeout.start()

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Stops the clock."""
        self._timeout.stop()

    def end(self, session: tf.compat.v1.Session) -> None:
        """Stops the clock, which still runs if the last step ended with the input."""
        self._timeout.stop()


def _end(secs: float) -> None:
    print(
        f"estimator_train: a step took longer than {secs:g} s (step_timeout_secs): ending with "
        f"code {EXIT_CODE}. The stacks of all threads:",
        file=sys.stderr,
        flush=True,
    )
    faulthandler.dump_traceback(sys.stderr, all_threads=True)
    end_now(EXIT_CODE, f"a step took longer than {secs:g} s (step_timeout_secs)")
