"""Old import paths of `tf_contrib`, which this package had below `legacy` until 0.1.

Programs that `estimator-train check --rewrite` of 0.1 wrote import them. The next version removes
them.
"""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

import tf_contrib

_NEW = tf_contrib.__name__


class _OldPaths:
    """Finder and loader whose modules are those of `tf_contrib`, not copies."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of a module below this one."""
        if not fullname.startswith(f"{__name__}."):
            return None
        if importlib.util.find_spec(_rename(fullname)) is None:
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Lets Python create a module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module of `tf_contrib` in the place of an old one.

        Args:
          module: The module that Python created for the old path.
        """
        sys.modules[module.__name__] = importlib.import_module(_rename(module.__name__))


def _rename(old: str) -> str:
    return _NEW + old.removeprefix(__name__)


def __getattr__(name: str) -> ModuleType:
    return getattr(tf_contrib, name)


__path__: list[str] = []
# Before the finder of paths, which would load the file of a module a second time.
sys.meta_path.insert(0, _OldPaths())
warnings.warn(
    f"{__name__} is now {_NEW}. Import {_NEW} instead: the next version removes the old path.",
    FutureWarning,
    stacklevel=2,
)
