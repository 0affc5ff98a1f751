"""Ends the process from any thread, for use when the main thread hangs."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import NoReturn

ExitCallback = Callable[[int, str], None]
_callbacks: list[ExitCallback] = []


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
