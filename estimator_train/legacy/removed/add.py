"""Adds attributes to classes and accepts old ways to call functions."""

import ctypes
import functools
import gc
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def add_missing(cls: type, attributes: Mapping[str, Any]) -> None:
    """Adds attributes to a class, unless it has them.

    A method also replaces an attribute that is none: NumPy 2.0 to 2.2 have attributes that raise an
    error in place of the methods that they removed.

    Args:
      cls: The class; one that is written in C too, whose `__dict__` is read-only.
      attributes: Name to method or property.
    """
    for name, value in attributes.items():
        if hasattr(cls, name) and (callable(getattr(cls, name)) or not callable(value)):
            continue
        try:
            setattr(cls, name, value)
        except TypeError:
            (writable,) = gc.get_referents(cls.__dict__)
            writable[name] = value
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))


def accept_positions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that takes its keyword-only arguments by position too.

    Libraries that made arguments keyword-only kept their order.

    Args:
      function: A function or method; returned unchanged if it has no keyword-only arguments.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY not in kinds or inspect.Parameter.VAR_POSITIONAL in kinds:
        return function
    first = kinds.index(inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        by_position = arguments[first:]
        if not by_position or len(by_position) > len(names):
            return function(*arguments, **named)
        return function(*arguments[:first], **dict(zip(names, by_position, strict=False)), **named)

    return call
