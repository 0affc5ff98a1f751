"""Which modules belong to the codebase: those that neither pip nor Python installed.

Of the installed libraries, those that use removed names see the old names too (`libraries.py`).
"""

import functools
import os
import site
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from estimator_train.legacy import libraries

_ROOT = Path(__file__).parents[2]
_THIS_PROJECT = ("estimator_train", "tf_contrib", "input_fns", "flags")


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    folders |= {str(_ROOT / package) for package in _THIS_PROJECT}
    return tuple(f"{os.path.realpath(path)}{os.sep}" for path in sorted(folders))


@functools.cache
def is_codebase_file(path: str) -> bool:
    """Returns whether a source file belongs to the codebase.

    Args:
      path: A path, absolute or relative to the working directory.
    """
    if path.startswith("<frozen") or libraries.find_library(path):
        return False
    return not os.path.realpath(path).startswith(_installed_folders())


def is_codebase_module(module_globals: Mapping[str, Any] | None) -> bool:
    """Returns whether a module belongs to the codebase.

    Args:
      module_globals: The names of the module. Without `__file__` only `__main__` belongs.
    """
    if not module_globals:
        return False
    path = module_globals.get("__file__")
    if path is None:
        return module_globals.get("__name__") == "__main__"
    return is_codebase_file(path)


def is_old_library(module_globals: Mapping[str, Any] | None, imported: str) -> bool:
    """Returns whether a module belongs to an installed library that uses removed names.

    Args:
      module_globals: The names of the module.
      imported: The top-level module that it imports. The sources of a library are read only if it
        imports TensorFlow or the importing file mentions it.
    """
    path = module_globals.get("__file__") if module_globals else None
    library = libraries.find_library(path) if path else None
    if library is None or not path:
        return False
    if imported.startswith("tensorflow") or libraries.mentions_tensorflow(path):
        return libraries.is_old(library)
    return libraries.is_known_as_old(library)


def find_source(name: str, directory: str | Path) -> Path | None:
    """Returns the file of a module that a codebase defines, or None.

    Args:
      name: The module's name.
      directory: The folder of the codebase's top-level modules.
    """
    base = Path(directory, *name.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
