"""Imports of the packages beside this one whose names an old codebase may use itself.

`python -m estimator_train`, and any user's own code, run where a `flags.py` of the user's may
lie. Ours is imported from its own place, and its name is left free for theirs.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

_HOME = str(Path(__file__).parents[3])


def import_own(name: str) -> ModuleType:
    """Imports the package `name` that was installed with this one.

    Args:
      name: `flags` or `input_fns`.

    Returns:
      The package; `sys.modules` is left as it was.
    """
    theirs = _take_out(name)
    sys.path.insert(0, _HOME)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_HOME)
        _take_out(name)
        sys.modules.update(theirs)


def _take_out(name: str) -> dict[str, ModuleType]:
    found = [key for key in sys.modules if key == name or key.startswith(name + ".")]
    return {key: sys.modules.pop(key) for key in found}


if TYPE_CHECKING:
    import flags
    from flags.group import Group
else:
    flags = import_own("flags")
    Group = flags.group.Group
