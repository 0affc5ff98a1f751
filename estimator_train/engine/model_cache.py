"""The models of an estimator that stay open: built and loaded once, used by call after call."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, Generic, Protocol, TypeVar

_MOST_KEPT = 2


@dataclasses.dataclass(frozen=True, eq=False)
class ReusedInputFn:
    """An input_fn that a kept model calls once, and whose input it starts again at later calls.

    Attributes:
      function: The user's input_fn.
    """

    function: Any


class CachedModel(Protocol):
    """What a cache needs of an open model."""

    @property
    def mode(self) -> str:
        """The ModeKeys value that it was built for."""

    @property
    def worn(self) -> bool:
        """Whether it is not to be used again."""

    def close(self) -> None:
        """Releases its session and graph."""


_Model = TypeVar("_Model", bound=CachedModel)


class ModelCache(Generic[_Model]):
    """The open models of one estimator, the latest few of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._models: list[_Model] = []

    def take(self, mode: str) -> _Model | None:
        """Takes a model of this mode out, so that nobody else uses it meanwhile."""
        with self._lock:
            for model in self._models:
                if model.mode == mode:
                    self._models.remove(model)
                    return model
        return None

    def give_back(self, model: _Model) -> None:
        """Keeps a model for the next call, in place of the oldest where there are too many."""
        with self._lock:
            if not model.worn:
                self._models.append(model)
            surplus = self._models[:-_MOST_KEPT]
            self._models = self._models[-_MOST_KEPT:]
        for old in [*surplus, *([model] if model.worn else [])]:
            old.close()

    def close(self) -> None:
        """Closes all models that are not in use."""
        with self._lock:
            models, self._models = self._models, []
        for model in models:
            model.close()
