"""The models that an Estimator keeps open: built and loaded once, used by several calls."""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

_MAX_MODELS = 2


@dataclasses.dataclass(frozen=True, eq=False)
class ReusedInput:
    """An input that open models read again and again, without calling its input_fn again.

    Attributes:
      input_fn: The user's input_fn.
    """

    input_fn: Callable[..., Any]

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        """Makes `find_reused_input` return this one for its input_fn, in this thread."""
        token = _active.set(self)
        try:
            yield
        finally:
            _active.reset(token)


_active: contextvars.ContextVar[ReusedInput | None] = contextvars.ContextVar(
    "reused_input", default=None
)


def find_reused_input(input_fn: Callable[..., Any]) -> ReusedInput | None:
    """Returns the active ReusedInput if it is that of `input_fn`, otherwise None."""
    active = _active.get()
    return active if active is not None and active.input_fn is input_fn else None


class CachedModel(Protocol):
    """An open model, as the cache uses it."""

    @property
    def mode(self) -> str:
        """The ModeKeys value that it was built for."""

    @property
    def needs_rebuild(self) -> bool:
        """Whether its graph has grown too large to use again."""

    def close(self) -> None:
        """Releases its session and graph."""


_Model = TypeVar("_Model", bound=CachedModel)


class ModelCache(Generic[_Model]):
    """The last few open models of one Estimator."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: list[_Model] = []

    def take(self, mode: str) -> _Model | None:
        """Removes and returns a model of this mode, or returns None."""
        with self._lock:
            for model in self._models:
                if model.mode == mode:
                    self._models.remove(model)
                    return model
        return None

    def give_back(self, model: _Model) -> None:
        """Keeps a model for the next call, and closes the oldest if there are too many."""
        with self._lock:
            if not model.needs_rebuild:
                self._models.append(model)
            surplus = self._models[:-_MAX_MODELS]
            self._models = self._models[-_MAX_MODELS:]
        for old in [*surplus, *([model] if model.needs_rebuild else [])]:
            old.close()

    def close(self) -> None:
        """Closes all models that no call uses."""
        with self._lock:
            models, self._models = self._models, []
        for model in models:
            model.close()
