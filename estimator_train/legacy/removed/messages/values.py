"""Messages that take bools as integers, as protobuf did before 7.34.

NumPy's bools are no integers since NumPy 2.3 either. TensorFlow's guide on TFRecord stores bools in
`tf.train.Int64List`, and so do many old programs.
"""

import ctypes
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_SET_ATTRIBUTE = 69  # Py_tp_setattro in Python's stable ABI.


def accept_bools(message_class: Any, map_class: Any) -> None:
    """Makes all messages, and their lists and maps, take bools as integers.

    Args:
      message_class: The class of a message whose field `value` is a list of integers.
      map_class: The class of maps of a message.
    """
    if _takes(message_class, True) and _takes(message_class, np.True_):
        return
    list_class = type(message_class(value=[1]).value)
    base = next(cls for cls in message_class.__mro__ if "__setattr__" in vars(cls))
    if base.__module__ != "google._upb._message":  # The implementation in Python is not changed.
        return
    _wrap(base, "__init__", _repeat_init)
    _wrap_assignment(base)
    for cls, name in (
        (list_class, "append"),
        (list_class, "insert"),
        (map_class, "__setitem__"),
    ):
        _wrap(cls, name, _repeat)
    _wrap(list_class, "__setitem__", _assign_item)
    _wrap(list_class, "extend", _repeat_extension)


def _takes(message_class: Any, value: Any) -> bool:
    try:
        message_class(value=[value])
    except TypeError:
        return False
    return True


def _wrap(cls: Any, name: str, repeat: Callable[..., Any]) -> None:
    """Replaces a method by one that is called again, with other values, after a TypeError."""
    original = getattr(cls, name)

    @functools.wraps(original, assigned=("__name__", "__doc__"))
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        return repeat(original, self, *arguments, **named)

    setattr(cls, name, call)


def _wrap_assignment(cls: Any) -> None:
    """Replaces `__setattr__`, whose original Python refuses to call once it is replaced."""
    find = ctypes.pythonapi.PyType_GetSlot
    find.argtypes, find.restype = [ctypes.py_object, ctypes.c_int], ctypes.c_void_p
    make = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object, ctypes.py_object)
    original = make(find(cls, _SET_ATTRIBUTE))

    def set_attribute(self: Any, name: str, value: Any) -> None:
        try:
            original(self, name, value)
        except TypeError:
            if _convert(value) is value:
                raise
            original(self, name, _convert(value))

    cls.__setattr__ = set_attribute


def _repeat(original: Callable[..., Any], self: Any, *arguments: Any) -> Any:
    try:
        return original(self, *arguments)
    except TypeError:
        converted = [_convert(argument) for argument in arguments]
        if all(one is other for one, other in zip(converted, arguments, strict=True)):
            raise
    return original(self, *converted)


def _assign_item(original: Callable[..., Any], self: Any, key: Any, value: Any) -> None:
    if isinstance(key, slice):  # A slice that fails has changed the list already.
        original(self, key, _convert(list(value) if hasattr(value, "__next__") else value))
    else:
        _repeat(original, self, key, value)


def _repeat_init(original: Callable[..., Any], self: Any, *arguments: Any, **named: Any) -> None:
    for name, value in named.items():
        if hasattr(value, "__next__"):  # A second call could not read an iterator again.
            named[name] = list(value)
    try:
        original(self, *arguments, **named)
    except TypeError:
        converted = {name: _convert(value) for name, value in named.items()}
        if all(converted[name] is named[name] for name in named):
            raise
        self.Clear()
        original(self, *arguments, **converted)


def _repeat_extension(original: Callable[..., Any], self: Any, values: Any) -> None:
    if values is None:  # protobuf 3 added nothing.
        return
    values = list(values) if hasattr(values, "__next__") else values
    count = len(self)
    try:
        original(self, values)
    except TypeError:
        converted = _convert(values)
        if converted is values:
            raise
        del self[count:]
        original(self, converted)


def _convert(value: Any) -> Any:
    """Returns a value with integers in the place of bools; the value itself if it has none."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, np.ndarray):
        return value.astype(np.int64) if value.dtype == np.bool_ else value
    if isinstance(value, Mapping):
        converted = {name: _convert(part) for name, part in value.items()}
        return value if all(converted[name] is value[name] for name in value) else converted
    if isinstance(value, (list, tuple, set)):
        parts = [_convert(part) for part in value]
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return value
