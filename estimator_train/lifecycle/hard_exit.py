"""Ending a process from another thread, when its main thread hangs."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import NoReturn

_LastWords = Callable[[int, str], None]
_to_say: list[_LastWords] = []


@contextlib.contextmanager
def last_words(say: _LastWords) -> Iterator[None]:
    """Within it `say` is called before `end_now` ends the process.

    Args:
      say: Takes the exit code and the cause; any thread may call it.
    """
    _to_say.append(say)
    try:
        yield
    finally:
        _to_say.remove(say)


def end_now(code: int, cause: str) -> NoReturn:
    """Ends the process at once, without any clean-up but the functions of `last_words`.

    Args:
      code: The exit code.
      cause: Why, for those last words.
    """
    for say in reversed(_to_say):
        with contextlib.suppress(Exception):
            say(code, cause)
    os._exit(code)
