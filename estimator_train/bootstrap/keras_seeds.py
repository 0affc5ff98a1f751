"""Makes tf_keras 2.16 to 2.18 draw seeds on Python 3.12 and later.

After `tf_keras.utils.set_random_seed` these versions call `random.randint(1, 1e9)`. Since Python
3.12 `randint` raises TypeError for a float.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

_SEED_MODULE = "tf_keras.src.utils.tf_utils"


class _Finder:
    """Finder that patches one module right after Python executes it."""

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

            def execute_and_patch(module: ModuleType) -> None:
                execute(module)
                patch(module)

            spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec


def install(name: str = _SEED_MODULE) -> None:
    """Patches the module that draws seeds, now or when it is imported, on Python 3.12 and later.

    Args:
      name: The module's name.
    """
    if sys.version_info < (3, 12):
        return
    if name in sys.modules:
        patch(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name))


def patch(module: ModuleType) -> None:
    """Makes `random.randint` in a module accept floats such as 1e9; it draws the same numbers.

    Args:
      module: A module that uses `seed`, `randint` and `Random` of `random`.
    """
    import random

    class Random(random.Random):
        def randint(self, a: float, b: float) -> int:
            return super().randint(int(a), int(b))

    module.__dict__["random"] = SimpleNamespace(
        seed=random.seed, Random=Random, randint=lambda a, b: random.randint(int(a), int(b))
    )
