"""Lets tf_keras draw seeds on Python 3.12 and later.

After `tf_keras.utils.set_random_seed` tf_keras 2.16 to 2.18 asks for `randint(1, 1e9)`, which takes
no float any more.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

_DRAWS = "tf_keras.src.utils.tf_utils"


class _Finder:
    """Finds the module that draws seeds as Python does, and mends it once it is executed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_mend(module: ModuleType) -> None:
                execute(module)
                mend(module)

            spec.loader.exec_module = execute_and_mend  # type: ignore[method-assign]
        return spec


def install(name: str = _DRAWS) -> None:
    """Mends the module that draws seeds, now or when it is imported, where Python needs it.

    Args:
      name: Its name.
    """
    if sys.version_info < (3, 12):
        return
    if name in sys.modules:
        mend(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name))


def mend(module: ModuleType) -> None:
    """Has `random` of a module take whole numbers that are floats; the numbers drawn are the same.

    Args:
      module: One that uses `seed`, `randint` and `Random` of it.
    """
    import random

    class Random(random.Random):
        def randint(self, a: float, b: float) -> int:
            return super().randint(int(a), int(b))

    module.__dict__["random"] = SimpleNamespace(
        seed=random.seed, Random=Random, randint=lambda a, b: random.randint(int(a), int(b))
    )
