"""Provides stand-ins for `tensorflow_estimator` where the real package is not installed.

tf_keras imports `model_to_estimator` from it.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

# Maps each stand-in to the module that has its names; None: a package that only holds modules.
_STAND_INS: dict[str, str | None] = {
    "tensorflow_estimator": None,
    "tensorflow_estimator.python": None,
    "tensorflow_estimator.python.estimator": None,
    "tensorflow_estimator.python.estimator.keras_lib": "estimator_train.compat.keras_lib",
}


class _StandInFinder:
    """Finder and loader of the stand-ins, which import their target when a name is first used.

    It has no base class: importing `importlib.abc` takes longer than the other work of
    `import estimator_train`.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _STAND_INS:
            return None
        return ModuleSpec(fullname, cast("Loader", self), is_package=_STAND_INS[fullname] is None)

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        target = _STAND_INS[module.__name__]
        if target is None:
            return

        def find(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
            return getattr(importlib.import_module(target), name)

        module.__dict__["__getattr__"] = find


def install() -> None:
    """Appends the finder of stand-ins, so that Python finds an installed package before them."""
    if not any(isinstance(finder, _StandInFinder) for finder in sys.meta_path):
        sys.meta_path.append(_StandInFinder())
