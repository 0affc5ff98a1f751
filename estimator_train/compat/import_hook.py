"""Answers imports of `tensorflow_estimator`, where the real package is not installed.

tf_keras, for one, still asks it for `model_to_estimator`.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

# Module to the one of ours whose names it has; None is a package that only holds others.
_STAND_INS: dict[str, str | None] = {
    "tensorflow_estimator": None,
    "tensorflow_estimator.python": None,
    "tensorflow_estimator.python.estimator": None,
    "tensorflow_estimator.python.estimator.keras_lib": "estimator_train.compat.keras_lib",
}


class _StandIns:
    """Finds the stand-ins, and makes them modules that import ours once a name is asked for.

    A finder and a loader by its methods: importing the classes for them takes longer than all of
    this package that `import estimator_train` loads.
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
        ours = _STAND_INS[module.__name__]
        if ours is None:
            return

        def find(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
            return getattr(importlib.import_module(ours), name)

        module.__dict__["__getattr__"] = find


def install() -> None:
    """Lets Python find the stand-ins; what is really installed is found before them."""
    if not any(isinstance(finder, _StandIns) for finder in sys.meta_path):
        sys.meta_path.append(_StandIns())
