"""The public names of an Estimator API, with the arguments of what can be called."""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any


def paths(value: Any) -> Iterator[str]:
    """Yields all names of a module, as "export.PredictOutput", and the methods of its classes."""
    for name in (name for name in dir(value) if not name.startswith("_")):
        member = getattr(value, name)
        yield name
        if isinstance(member, types.ModuleType):
            yield from (f"{name}.{path}" for path in paths(member))
        elif inspect.isclass(member):
            yield from (f"{name}.{path}" for path in _methods(member))


def _methods(owner: type) -> Iterator[str]:
    for name in (name for name in dir(owner) if not name.startswith("_")):
        static = inspect.getattr_static(owner, name)
        if inspect.isroutine(static) or isinstance(static, (staticmethod, classmethod)):
            yield name


def described(namespace: Any, path: str) -> Any:
    """Describes a name of a namespace: its arguments, "module" or a text.

    An argument is "name", "name=default" where the default is plain, or "name=..." where it is not.
    """
    value = operator.attrgetter(path)(namespace)
    if isinstance(value, types.ModuleType):
        return "module"
    if not callable(value):
        return type(value).__name__
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "callable"
    kinds = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [kinds.get(p.kind, "") + p.name + _default(p.default) for p in parameters]


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    plain = value is None or isinstance(value, (str, int, float, bool, tuple))
    return f"={value!r}" if plain else "=..."
