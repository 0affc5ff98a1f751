"""The unusual but legal forms in which a program may give a value."""

from __future__ import annotations

import collections
import copy
import functools
import os
import pathlib
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

Form = Callable[[Any], Any]


class Delegate:
    """Has the attributes of another object, but not its class."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        # Not what copies and pickles look for before there is a target.
        if name.startswith("__") or "_target" not in vars(self):
            raise AttributeError(name)
        return getattr(self._target, name)


class Callable_(Delegate):
    """An object that is called as a function is, with the function's attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._target(*args, **kwargs)


class Bare:
    """An object that is called as a function is; only its __call__ has arguments to look at."""

    def __new__(cls, target: Callable[..., Any]) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            del self
            return target(*args, **kwargs)

        names = _arguments(target)
        body = f"lambda self, {', '.join(names)}: target({', '.join(f'{n}={n}' for n in names)})"
        if names is not None:
            call = eval(body, {"target": target})  # noqa: S307  arguments by their names
        return type("Bare", (), {"__call__": call})()


class Holder:
    """Has the function as a method."""

    def __new__(cls, target: Callable[..., Any]) -> Any:
        return types.MethodType(type(Bare(target)).__call__, object())


class Path(os.PathLike):
    """A path that is no pathlib.Path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def _arguments(target: Callable[..., Any]) -> list[str]:
    return list(target.__code__.co_varnames[: target.__code__.co_argcount])


def _wrapped(target: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    return wrapper


def _of_subclass(kind: type) -> Form:
    return type(f"My{kind.__name__.capitalize()}", (kind,), {})


def _subclass_of(value: Any) -> Any:
    """Returns an equal object of a subclass of its class, as a program may define it."""
    kind = type(value)
    mine = type(f"My{kind.__name__}", (kind,), {})
    if isinstance(value, tuple):
        return mine(*value)
    # The copy of a type is the type itself, which all of TensorFlow shares.
    if isinstance(value, tf.DType):
        return mine(value.as_datatype_enum)
    made = copy.copy(value)
    made.__class__ = mine
    return made


_NUMBER: dict[str, Form] = {
    "numpy float32": np.float32,
    "numpy float64": np.float64,
    "array of no dimensions": np.array,
    "tensor": tf.constant,
}
_INT: dict[str, Form] = {
    "numpy int32": np.int32,
    "numpy int64": np.int64,
    "array of no dimensions": np.array,
    "tensor": tf.constant,
    "tensor of int64": functools.partial(tf.constant, dtype=tf.int64),
    "float": float,
    "numpy float32": np.float32,
    "subclass": _of_subclass(int),
}
_FLOAT: dict[str, Form] = {**_NUMBER, "subclass": _of_subclass(float), "int": int}
_BOOL: dict[str, Form] = {"numpy bool": np.bool_, "int": int, "tensor": tf.constant}
_STR: dict[str, Form] = {
    "subclass": _of_subclass(str),
    "numpy str": np.str_,
    "bytes": str.encode,
    "tensor": tf.constant,
}
_PATH: dict[str, Form] = {**_STR, "pathlib.Path": pathlib.Path, "os.PathLike": Path}
_SEQUENCE: dict[str, Form] = {
    "list": list,
    "tuple": tuple,
    "subclass of list": _of_subclass(list),
    "subclass of tuple": _of_subclass(tuple),
    "generator": lambda items: (item for item in items),
    "iterator": iter,
    "keys of a dict": lambda items: dict.fromkeys(items).keys(),
    "deque": collections.deque,
    "UserList": collections.UserList,
    "array": np.array,
    "array of objects": lambda items: np.array([*items, None], dtype=object)[:-1],
}
_DICT: dict[str, Form] = {
    "OrderedDict": collections.OrderedDict,
    "subclass": _of_subclass(dict),
    "defaultdict": lambda items: collections.defaultdict(list, items),
    "MappingProxyType": types.MappingProxyType,
    "UserDict": collections.UserDict,
    "ChainMap": collections.ChainMap,
}
_FUNCTION: dict[str, Form] = {
    "functools.partial": functools.partial,
    "partial of a partial": lambda f: functools.partial(functools.partial(f)),
    "object with __call__": Bare,
    "object with __call__ that delegates": Callable_,
    "bound method": Holder,
    "wrapped": _wrapped,
    "static method": lambda f: type("Has", (), {"f": staticmethod(f)}).f,
}
_OBJECT: dict[str, Form] = {"object that delegates": Delegate, "subclass": _subclass_of}


def forms(value: Any, path: bool = False) -> dict[str, Form]:
    """Returns functions that make the other forms of a value, by the form's name.

    Args:
        value: As a program usually gives it.
        path: Whether a string is the path of a file.
    """
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT
    if isinstance(value, float):
        return _FLOAT
    if isinstance(value, str):
        return _PATH if path else _STR
    if isinstance(value, dict):
        return _DICT
    if type(value) in (list, tuple):
        return {name: form for name, form in _SEQUENCE.items() if name != type(value).__name__}
    if isinstance(value, types.FunctionType):
        return _FUNCTION
    if value is None or isinstance(value, (Iterable, tf.Tensor, type)):
        return {}
    return _OBJECT
