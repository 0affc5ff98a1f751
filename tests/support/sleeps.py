"""Replaces `time.sleep` for the thread of a test.

Other threads of the process, such as that which publishes files to remote stores, go on sleeping:
with a sleep that returns at once their loops would take all time, and fill the test's list.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest


def replace_sleep(
    monkeypatch: pytest.MonkeyPatch, replacement: Callable[[float], object] = lambda secs: None
) -> None:
    """Lets this thread call a function instead of `time.sleep`.

    Args:
      monkeypatch: Undoes it.
      replacement: It is given the seconds.
    """
    sleep, thread = time.sleep, threading.current_thread()

    def sleep_or_call(secs: float) -> None:
        if threading.current_thread() is thread:
            replacement(secs)
        else:
            sleep(secs)

    monkeypatch.setattr(time, "sleep", sleep_or_call)
