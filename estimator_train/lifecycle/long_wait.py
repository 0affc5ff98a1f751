"""Waits for other processes in a call that nothing interrupts: told, and ended after a limit."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

from estimator_train.lifecycle.hard_exit import end_now

_LOG = logging.getLogger("tensorflow")
# As a process does that was ended by SIGTERM: schedulers start such a one again.
RETRYABLE_EXIT_CODE = 143
SAY_EVERY_SECS = 30.0


@contextlib.contextmanager
def long_wait(what: str, limit_secs: float | None, setting: str) -> Iterator[None]:
    """Within it a wait is told every 30 seconds; after the limit it ends the process by code 143.

    Args:
      what: Completes "Waiting ": for whom, and to do what.
      limit_secs: How long it may take; None never ends the process.
      setting: Where the limit was set, for the last line.
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
