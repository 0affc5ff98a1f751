"""Which modules belong to the old codebase: all that are neither installed nor Python's own.

Of installed libraries, those see names of old that were written for them (`libraries.py`).
"""

import functools
import os
import site
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from estimator_train.legacy import libraries

_HOME = Path(__file__).parents[2]
_OWN_PACKAGES = ("estimator_train", "input_fns", "flags")


@functools.cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {*site.getsitepackages(), site.getusersitepackages()}
    found |= {str(_HOME / package) for package in _OWN_PACKAGES}
    return tuple(f"{os.path.realpath(path)}{os.sep}" for path in sorted(found))


@functools.cache
def is_own_file(path: str) -> bool:
    """Whether a source file belongs to the codebase.

    Args:
      path: A path, absolute or from the working directory.
    """
    if path.startswith("<frozen") or libraries.library_of(path):
        return False
    return not os.path.realpath(path).startswith(_installed())


def is_own_module(module_globals: Mapping[str, Any] | None) -> bool:
    """Whether a module belongs to the codebase.

    Args:
      module_globals: The names of the module; without a file only `__main__` belongs to it.
    """
    if not module_globals:
        return False
    path = module_globals.get("__file__")
    if path is None:
        return module_globals.get("__name__") == "__main__"
    return is_own_file(path)


def is_old_library(module_globals: Mapping[str, Any] | None, imported: str) -> bool:
    """Whether a module belongs to an installed library that uses names TensorFlow has lost.

    Args:
      module_globals: The names of the module.
      imported: The top-level module that it imports: by its import of TensorFlow a library shows
        that it has to be looked at.
    """
    path = module_globals.get("__file__") if module_globals else None
    library = libraries.library_of(path) if path else None
    if library is None or not path:
        return False
    if imported.startswith("tensorflow") or libraries.mentions_tensorflow(path):
        return libraries.is_old(library)
    return libraries.is_known(library)


def source_of(name: str, directory: str | Path) -> Path | None:
    """The file of a module that a codebase defines; None if it defines no such module.

    Args:
      name: The module's name.
      directory: Where the codebase's top-level modules are.
    """
    base = Path(directory, *name.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
