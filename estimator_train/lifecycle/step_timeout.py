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

EXIT_CODE = 142  # As a process that an alarm ended: schedulers start it again.
# A loop of steps is made to last about a second.
_LOOP_SECS = 2.0


class StepTimeout:
    """A clock that runs during each step.

    Args:
      secs: The longest that a step may take; None never ends the process.
    """

    def __init__(self, secs: float | None) -> None:
        self._secs = secs
        self._deadline: float | None = None
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
        if self._secs is None:
            return
        self._deadline = time.monotonic() + self._secs + more_secs
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="step-timeout", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """The step has ended."""
        self._deadline = None

    def _watch(self) -> None:
        assert self._secs is not None
        while True:
            # Looking now and then costs steps nothing; waking this thread at each of them would.
            time.sleep(min(1.0, self._secs / 4))
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                _end(self._secs)


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
