"""Logs and limits waits for other processes in calls that nothing can interrupt."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

from estimator_train.lifecycle.hard_exit import end_now

_LOG = logging.getLogger("tensorflow")
# The code of a process that SIGTERM ended: schedulers restart such a process.
RETRYABLE_EXIT_CODE = 143
SAY_EVERY_SECS = 30.0


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
        yield
    finally:
        is_over.set()


def _watch(is_over: threading.Event, what: str, limit_secs: float | None, setting: str) -> None:
    began = time.monotonic()
    limit = float("inf") if limit_secs is None else limit_secs
    while not is_over.wait(min(SAY_EVERY_SECS, began + limit - time.monotonic())):
        waited = time.monotonic() - began
        if waited >= limit:
            why = f"gave up waiting {what}, after {limit:g} s ({setting})"
            _LOG.error("Ending with exit code %d: %s.", RETRYABLE_EXIT_CODE, why)
            end_now(RETRYABLE_EXIT_CODE, why)
        _LOG.warning("Waiting %s, for %d s now.", what, waited)
