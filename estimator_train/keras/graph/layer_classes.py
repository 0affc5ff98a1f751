"""Making layers in a graph without breaking the eager layers of the process."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import tf_keras

_LOCK = threading.Lock()
_USERS = 0
_KEPT: dict[type, tuple[type, ...]] = {}


@contextlib.contextmanager
def kept_layer_classes() -> Iterator[None]:
    """Within it, layers may be made in a graph; after it, eager layers work as before.

    When a layer is made in a graph, tf_keras changes the bases of its class, which makes every
    eager layer and model of that class unusable: callers could not use their own model after
    training. The bases are restored when the last thread leaves the context, as the replicas of a
    strategy are in it at the same time, each in its own thread.
    """
    global _USERS
    with _LOCK:
        if _USERS == 0:
            _KEPT.update((cls, cls.__bases__) for cls in _subclasses(tf_keras.layers.Layer))
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


def _subclasses(cls: Any) -> Iterator[type]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
