"""The two Estimator APIs to compare, which are imported by the process that measures them."""

import importlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TypeVar

from benchmarks.benchmark import ORIGINAL, OURS


@dataclass(frozen=True)
class Apis:
    """Names of an Estimator API and of its Keras; the properties import them.

    Attributes:
      estimator_name: Module with Estimator and RunConfig.
      keras_name: Module with layers and Sequential.
      converter_name: Module with model_to_estimator for models of that Keras.
    """

    estimator_name: str
    keras_name: str
    converter_name: str

    @property
    def estimator(self) -> ModuleType:
        """The module with Estimator and RunConfig."""
        return _import_module(self.estimator_name)

    @property
    def keras(self) -> ModuleType:
        """The module with layers and Sequential."""
        return _import_module(self.keras_name)

    @property
    def converter(self) -> ModuleType:
        """The module with model_to_estimator."""
        return _import_module(self.converter_name)


def _import_module(name: str) -> ModuleType:
    package, _, attribute = name.partition(".")
    module = importlib.import_module(package)
    return operator.attrgetter(attribute)(module) if attribute else module


APIS = {
    OURS: Apis("estimator_train", "tf_keras", "tf_keras.estimator"),
    ORIGINAL: Apis("tensorflow.estimator", "tensorflow.keras", "tensorflow.keras.estimator"),
}
KERAS_3 = Apis("estimator_train", "keras", "estimator_train.keras")


_Figure = TypeVar("_Figure")


def compare_apis(
    measure: Callable[[Apis, bool], _Figure],
) -> Mapping[str, Callable[[bool], _Figure]]:
    """Returns peers that measure the same job with each API.

    Args:
      measure: Function of (apis, quick).
    """
    return {peer: partial(measure, apis) for peer, apis in APIS.items()}
