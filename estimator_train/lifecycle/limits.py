"""Long waits, and the end of a process that cannot go on."""

import contextlib
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

from estimator_train.goodput import WAITING, process_clock

ExitCallback = Callable[[int, str], None]
_callbacks: list[ExitCallback] = []
_LOG = logging.getLogger("tensorflow")
# The code of a process that SIGTERM ended: schedulers restart such a process.
RETRYABLE_EXIT_CODE = 143
SAY_EVERY_SECS = 30.0


@contextlib.contextmanager
def on_hard_exit(callback: ExitCallback) -> Iterator[None]:
    """Registers a callback that `end_now` calls before it ends the process.

    Args:
      callback: Function of the exit code and the cause; any thread may call it.

    Yields:
      Nothing; the callback is removed at the end of the with block.
    """
    _callbacks.append(callback)
    try:
        yield
    finally:
        _callbacks.remove(callback)


def end_now(code: int, cause: str) -> NoReturn:
    """Ends the process immediately, with no cleanup except the callbacks of `on_hard_exit`.

    Args:
      code: The exit code.
      cause: The cause, for the callbacks.
    """
    for callback in reversed(_callbacks):
        with contextlib.suppress(Exception):
            callback(code, cause)
    os._exit(code)


class WaitClock:
    """Clock of a wait, which logs every 30 seconds what the wait is for and how long it lasts.

    Args:
      limit_secs: Maximum time to wait from now; infinite for a wait without a limit.
      level: Level of the log lines.
    """

    def __init__(self, limit_secs: float, level: int = logging.WARNING) -> None:
        self._level = level
        self._began = self._logged = time.monotonic()
        self._end = self._began + limit_secs

    def count_left_secs(self) -> float:
        """Returns the time until the limit, negative after it."""
        return self._end - time.monotonic()

    def log_if_due(self, what: str) -> None:
        """Logs "Waiting ..." if the last line is 30 seconds old; `what` ends the sentence."""
        now = time.monotonic()
        if now - self._logged >= SAY_EVERY_SECS:
            self._logged = now
            left = self._end - now
            limit = "" if math.isinf(left) else f"; giving up in {left:.0f} s"
            _LOG.log(self._level, "Waiting %s, for %d s now%s.", what, now - self._began, limit)


@contextlib.contextmanager
def limit_wait(what: str, limit_secs: float | None, setting: str) -> Iterator[None]:
    """Logs every 30 seconds how long the with block waits; ends the process after a limit.

    The exit code is 143, so that schedulers restart the job.

    Args:
      what: Completes the log line "Waiting ...": the awaited task and event.
      limit_secs: The limit in seconds; None never ends the process.
      setting: Name of the setting that has the limit, for the last log line.

    Yields:
      Nothing.
    """
    is_over = threading.Event()
    watch = threading.Thread(
        target=_watch, args=(is_over, what, limit_secs, setting), name="long-wait", daemon=True
    )
    watch.start()
    try:
        with process_clock.spend(WAITING):
            yield
    finally:
        is_over.set()


def _watch(is_over: threading.Event, what: str, limit_secs: float | None, setting: str) -> None:
    limit = math.inf if limit_secs is None else limit_secs
    clock = WaitClock(limit)
    while not is_over.wait(min(SAY_EVERY_SECS, clock.count_left_secs())):
        if clock.count_left_secs() <= 0:
            why = f"gave up waiting {what}, after {limit:g} s ({setting})"
            _LOG.error("Ending with exit code %d: %s.", RETRYABLE_EXIT_CODE, why)
            end_now(RETRYABLE_EXIT_CODE, why)
        clock.log_if_due(what)
