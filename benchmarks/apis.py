"""The two Estimator APIs that are compared, imported where they are measured."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from benchmarks.benchmark import ORIGINAL, OURS


@dataclass(frozen=True)
class Apis:
    """An Estimator API and the Keras that goes with it; each is imported as it is asked for."""

    estimator_name: str
    keras_name: str

    @property
    def estimator(self) -> Any:
        """The module with Estimator and RunConfig."""
        return _module(self.estimator_name)

    @property
    def keras(self) -> Any:
        """The module with layers and Sequential."""
        return _module(self.keras_name)


def _module(name: str) -> Any:
    package, _, attribute = name.partition(".")
    module = importlib.import_module(package)
    return getattr(module, attribute) if attribute else module


APIS = {
    OURS: Apis("estimator_train", "tf_keras"),
    ORIGINAL: Apis("tensorflow.estimator", "tensorflow.keras"),
}


_Figure = TypeVar("_Figure")


def both(measure: Callable[[Apis, bool], _Figure]) -> Mapping[str, Callable[[bool], _Figure]]:
    """Peers that measure the same with either API.

    Args:
      measure: Function of (apis, quick).
    """
    return {peer: partial(measure, apis) for peer, apis in APIS.items()}
