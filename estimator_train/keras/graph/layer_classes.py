"""Keeps the eager layers of the process usable while a graph makes layers."""

import contextlib
import threading
from collections.abc import Iterator

import tf_keras

_LOCK = threading.Lock()
_USERS = 0
_KEPT: dict[type, tuple[type, ...]] = {}


@contextlib.contextmanager
def keep_layer_classes() -> Iterator[None]:
    """Restores the bases of layer classes that layers made in a graph have changed.

    When a graph makes a layer, tf_keras changes the bases of its class, and every eager layer and
    model of that class becomes unusable: callers could not use their own model after training. The
    replicas of a strategy build their models at the same time, each in a thread: the last thread to
    leave restores the bases.
    """
    global _USERS
    with _LOCK:
        if _USERS == 0:
            _KEPT.update((cls, cls.__bases__) for cls in _list_subclasses(tf_keras.layers.Layer))
        _USERS += 1
    try:
        yield
    finally:
        with _LOCK:
            _USERS -= 1
            if _USERS == 0:
                _restore()


def _restore() -> None:
    for cls, bases in _KEPT.items():
        if cls.__bases__ != bases:
            cls.__bases__ = bases
    _KEPT.clear()


def _list_subclasses(cls: type) -> Iterator[type]:
    subclass: type
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _list_subclasses(subclass)
