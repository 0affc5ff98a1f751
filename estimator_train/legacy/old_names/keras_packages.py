"""Finds packages such as keras_tuner under the name that tf-keras gives them.

A saved object of Keras names its module. When tf-keras loads one, it reads `keras` at the start of
that name as `tf_keras`, also in the names of other packages: `keras_tuner.engine` becomes
`tf_keras_tuner.engine`.
"""

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

_PREFIX = "tf_keras_"
_ORIGINAL_PREFIX = "keras_"


def install() -> None:
    """Makes modules of such packages importable; a package with the name itself comes first."""
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Finder of `tf_keras_x` where only `keras_x` exists."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(_PREFIX) or _exists(fullname.partition(".")[0]):
            return None
        name = _ORIGINAL_PREFIX + fullname.removeprefix(_PREFIX)
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(name)) if spec else None


class _Loader(importlib.abc.Loader):
    """Loader that returns the module with the original name, unchanged."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # Python has replaced it by the spec of the second name.
        module.__spec__ = self._spec


@functools.cache
def _exists(package: str) -> bool:
    return importlib.machinery.PathFinder.find_spec(package) is not None
