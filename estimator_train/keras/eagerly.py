"""Eager code from within a graph or a strategy's replica."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")


def eagerly(function: Callable[[], _T]) -> _T:
    """Calls a function where no graph and no strategy is entered: in a thread of its own.

    Returns:
      What it returned; what it raised is raised here.
    """
    outcome: dict[str, Any] = {}

    def call() -> None:
        try:
            outcome["result"] = function()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=call, name="eager")
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]
