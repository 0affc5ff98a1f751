"""Decorators of `keras.legacy.interfaces`, which took the arguments of Keras 1."""

from collections.abc import Callable
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def __getattr__(name: str) -> Callable[[_Function], _Function]:
    """Returns a decorator that changes nothing: functions take their arguments of Keras 2 only."""
    if not name.startswith("legacy_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _keep


def _keep(function: _Function) -> _Function:
    return function
