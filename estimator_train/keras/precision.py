"""The policy of mixed precision under which layers are made."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any


def use_policy(name: str | None) -> contextlib.AbstractContextManager[None]:
    """Makes a policy the global one of tf_keras, and of Keras 3 if it is imported.

    The threads of a strategy's replicas share the global policy: the first that enters sets it, and
    the last that leaves restores the earlier policy. A thread with another policy waits until then.

    Args:
      name: A policy such as "mixed_bfloat16"; None keeps the global policy.
    """
    return contextlib.nullcontext() if name is None else _shared_policy.use(name)


class _SharedPolicy:
    """Global policy that all threads of a process share."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._name: str | None = None
        self._threads: list[int] = []
        self._earlier: dict[Any, Any] = {}

    @contextlib.contextmanager
    def use(self, name: str) -> Iterator[None]:
        """Sets a policy for this thread and those that use the same policy."""
        thread = threading.get_ident()
        if thread in self._threads and name != self._name:  # Waiting for itself would never end.
            earlier: dict[Any, Any] = {}
            _set_policy(name, earlier)
            try:
                yield
            finally:
                _restore(earlier)
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._threads or name == self._name)
            self._name = name
            self._threads.append(thread)
            _set_policy(name, self._earlier)
        try:
            yield
        finally:
            with self._changed:
                self._threads.remove(thread)
                if not self._threads:
                    _restore(self._earlier)
                    self._changed.notify_all()


def _set_policy(name: str, earlier: dict[Any, Any]) -> None:
    """Sets the global policy of each imported Keras, and adds the earlier policies to a dict."""
    for package in ("tf_keras", "keras"):
        if package not in sys.modules:
            continue
        precision = sys.modules[package].mixed_precision
        before = precision.global_policy()
        if before.name != name:
            earlier.setdefault(precision, before)
            precision.set_global_policy(name)


def _restore(earlier: dict[Any, Any]) -> None:
    while earlier:
        precision, policy = earlier.popitem()
        precision.set_global_policy(policy)


_shared_policy = _SharedPolicy()
