"""A step that takes too long ends the process, once the stack of every thread is written."""

import contextlib
import faulthandler
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_train.lifecycle.hard_exit import end_now
from estimator_train.lifecycle.long_wait import SAY_EVERY_SECS

EXIT_CODE = 142  # As a process that an alarm ended: schedulers start it again.
_LOG = tf.get_logger()
# Longer than any graph takes to be optimized and compiled.
_FIRST_STEP_SECS = 3600.0
# A loop of steps is made to last about a second.
_LOOP_SECS = 2.0


class StepTimeout:
    """A clock that runs during each step.

    A step of synchronous workers waits for all of them. So it is told every 30 seconds how long it
    has taken, and the first ends the process after an hour even where `secs` is None.

    Args:
      secs: The longest that a step may take; None never ends the process.
      others: The names of the workers that a step waits for, or "".
    """

    def __init__(self, secs: float | None, others: str = "") -> None:
        self._secs, self._others = secs, others
        self._limit = _FIRST_STEP_SECS if secs is None and others else secs
        self._began: float | None = None
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Within it a loop of steps runs."""
        self.start(_LOOP_SECS)
        try:
            yield
        finally:
            self.stop()

    def start(self, more_secs: float = 0.0) -> None:
        """A step begins."""
        if self._secs is None and not self._others:
            return
        self._began = time.monotonic() + more_secs
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="step-timeout", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """The step has ended."""
        self._began = None
        self._limit = self._secs

    def _watch(self) -> None:
        said_of, said_at = 0.0, 0.0
        while True:
            # Looking now and then costs steps nothing; waking this thread at each of them would.
            time.sleep(1.0 if self._secs is None else min(1.0, self._secs / 4))
            began, limit = self._began, self._limit
            if began is None:
                continue
            took = time.monotonic() - began
            if limit is not None and took > limit:
                _end(limit)
            said_of, said_at = (said_of, said_at) if began == said_of else (began, 0.0)
            if self._others and took - said_at >= SAY_EVERY_SECS:
                said_at = took
                _LOG.warning("This step has taken %d s: waiting for %s.", took, self._others)


class StepTimeoutHook(tf.compat.v1.train.SessionRunHook):
    """Runs the clock during each step; it is the first hook, so that no other's time counts.

    Args:
      timeout: The clock.
    """

    def __init__(self, timeout: StepTimeout) -> None:
        self._timeout = timeout

    def steps_until_due(self, global_step: int) -> None:
        """It need see no step: the loop of steps runs the clock itself."""

    def before_run(self, run_context: Any) -> None:
        """A step begins."""
        self._timeout.start()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """The step has ended."""
        self._timeout.stop()

    def end(self, session: Any) -> None:
        """Stops the clock: the end of the input may have ended the last step."""
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
