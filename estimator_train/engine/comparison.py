"""Comparison of structures by value, where a difference that cannot be ruled out counts as one."""

import contextlib
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

_VALUES = (bool, int, float, complex, str, bytes, type(None))
_MAX_FUNCTIONS = 50
_LIBRARIES = ("estimator_train", "keras", "numpy", "tensorflow", "tf_contrib", "tf_keras")


def have_equal_values(first: Any, second: Any) -> bool:
    """Returns whether two structures hold equal values of the same types, dicts in the same order.

    Args:
      first: Any object; containers and objects with attributes are compared part by part.
      second: Any object.
    """
    try:
        return _are_equal(first, second)
    except RecursionError:  # The object refers to itself.
        return False


def _are_equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    if isinstance(first, Mapping):
        return list(first) == list(second) and _compare_pairs(first.values(), second.values())
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and _compare_pairs(first, second)
    compares_identity = getattr(type(first), "__eq__", None) is object.__eq__
    if compares_identity and hasattr(first, "__dict__"):
        return bool(vars(first)) and _are_equal(vars(first), vars(second))
    try:
        return bool(first == second)
    except Exception:  # noqa: BLE001  The __eq__ of a user's class may raise any error.
        return False


def have_same_structure(first: Any, second: Any) -> bool:
    """Returns whether two element specs are equal, with containers of the same types and order.

    `==` of element specs ignores the order of a dict, which a model_fn can see, and takes a
    namedtuple for any other tuple.

    Args:
      first: The `element_spec` of a dataset.
      second: The `element_spec` of another dataset.
    """
    if isinstance(first, tf.TypeSpec):
        return bool(first == second)
    if type(first) is not type(second):
        return False
    if isinstance(first, Mapping):
        same_names = list(first) == list(second)
        return same_names and all(have_same_structure(first[name], second[name]) for name in first)
    if isinstance(first, (list, tuple)):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(have_same_structure(*pair) for pair in pairs)
    return bool(first == second)


def _compare_pairs(first: Iterable[object], second: Iterable[object]) -> bool:
    return all(_are_equal(*pair) for pair in zip(first, second, strict=True))


def read_visible_values(function: Callable[..., Any]) -> dict[str, str]:
    """Returns the numbers and texts that a function can read, as texts, by their place.

    They are globals, variables of enclosing functions, attributes of the object of a method, and
    the same of the functions that it calls by such a name, but for globals of libraries.

    Args:
      function: A function, method, callable object or `functools.partial` of these.
    """
    found: dict[str, str] = {}
    queue: list[tuple[str, Any]] = [("", function)]
    known: set[tuple[int, int]] = set()
    while queue and len(known) < _MAX_FUNCTIONS:
        place, one = queue.pop(0)
        # A method is another object at each access.
        key = (id(getattr(one, "__func__", one)), id(getattr(one, "__self__", None)))
        if key in known:
            continue
        known.add(key)
        for name, value in _list_visible(one):
            if isinstance(value, _VALUES):
                found[f"{place}/{name}"] = repr(value)
            elif isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
                queue.append((f"{place}/{name}", value))
    return found


def _list_visible(function: Any) -> Iterator[tuple[str, Any]]:
    """Yields the names and values that a callable can read, and its inner functions."""
    if isinstance(function, functools.partial):
        yield "func", function.func
    elif isinstance(function, types.MethodType):
        yield "function", function.__func__
        # A list, because another thread may add an attribute.
        yield from list(getattr(function.__self__, "__dict__", {}).items())
    elif isinstance(function, types.FunctionType):
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            with contextlib.suppress(ValueError):  # It has no value yet.
                yield name, cell.cell_contents
        if (function.__module__ or "").partition(".")[0] not in _LIBRARIES:
            for name in _list_global_names(function.__code__):
                if name in function.__globals__:
                    yield f"global {name}", function.__globals__[name]
    else:
        yield "call", function.__call__


def _list_global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _list_global_names(constant)
