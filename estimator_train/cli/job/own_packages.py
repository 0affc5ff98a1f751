"""Imports `flags` and `input_fns`, even if the user has modules with the same names.

A user's codebase may contain a `flags.py`. So this package imports its own `flags` from its own
directory, and removes it from `sys.modules` again: then the user's code can import the other one.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

_HOME = str(Path(__file__).parents[3])


def import_own_package(name: str) -> ModuleType:
    """Imports a package that was installed with this one, without changing `sys.modules`.

    Args:
      name: `flags` or `input_fns`.
    """
    user_modules = _remove_modules(name)
    sys.path.insert(0, _HOME)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_HOME)
        _remove_modules(name)
        sys.modules.update(user_modules)


def _remove_modules(name: str) -> dict[str, ModuleType]:
    """Removes a package and its submodules from `sys.modules`, and returns them."""
    keys = [key for key in sys.modules if key == name or key.startswith(name + ".")]
    return {key: sys.modules.pop(key) for key in keys}


if TYPE_CHECKING:
    import flags as flags
    from flags.group import Group as Group
else:
    flags = import_own_package("flags")
    Group = flags.group.Group
