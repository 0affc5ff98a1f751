"""The functions of Python's module `imp` that programs call; Python 3.12 removed it."""

import importlib
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import IO

__all__ = ["find_module", "load_module", "load_source", "new_module", "reload"]

PY_SOURCE, PKG_DIRECTORY = 1, 5
_Found = tuple[IO[str] | None, str, tuple[str, str, int]]


def new_module(name: str) -> ModuleType:
    """Returns an empty module that is not in `sys.modules`."""
    return ModuleType(name)


def reload(module: ModuleType) -> ModuleType:
    """Reloads a module; for a module with old names the one that it is made of."""
    return importlib.reload(sys.modules[module.__name__])


def load_source(name: str, path: str, file: IO[str] | None = None) -> ModuleType:
    """Executes a source file as a module and returns it.

    Args:
      name: The name of the module in `sys.modules`.
      path: The file.
      file: Not used, as in `imp`.
    """
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def find_module(name: str, path: list[str] | None = None) -> _Found:
    """Returns what `load_module` needs: an open file, its path and a description.

    Raises:
      ImportError: There is no such module.
    """
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, list(spec.submodule_search_locations)[0], ("", "", PKG_DIRECTORY)
    origin = str(spec.origin)
    return open(origin, encoding="utf-8"), origin, (".py", "r", PY_SOURCE)


def load_module(
    name: str, file: IO[str] | None, path: str, description: tuple[str, str, int]
) -> ModuleType:
    """Loads what `find_module` found."""
    if description[2] == PKG_DIRECTORY:
        path = f"{path}/__init__.py"
    return load_source(name, path)
