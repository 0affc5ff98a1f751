"""Names that Python and its libraries have removed since a codebase was written.

They have nothing to do with Estimators: a program of 2018 also fails at `np.int`. They belong to
the command `run`, which promises unedited programs, and to no package of their own: the finders of
imports that show old names of TensorFlow show these too, and only where old code runs.

`MODULES` and `NAMES` are tables of a Tree (`legacy/old_names/view.py`), so only the codebase and
old libraries see these names. Methods and arguments of classes have to be added to the classes
themselves: `PREPARE` names a function for each module, which runs when the codebase first imports
it.
"""

import builtins
import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from estimator_train.legacy.removed import data_libraries, numpy_names, standard_library

MODULES = {
    **standard_library.MODULES,
    **numpy_names.MODULES,
    **data_libraries.MODULES,
}
NAMES = {
    **standard_library.NAMES,
    **numpy_names.NAMES,
    **data_libraries.NAMES,
}
PREPARE = {
    **standard_library.PREPARE,
    **data_libraries.PREPARE,
}


def add_to_running_modules() -> None:
    """Adds names to modules whose attributes change while a program runs, so that no view fits.

    `open` accepts the mode "U" again, which Python 3.11 removed: it has been the default since 3.0.
    """
    builtins.open = _accept_mode_u(builtins.open)
    for module, name, value in (
        (os, "errno", errno),
        (sys, "setcheckinterval", lambda interval: None),
        (sys, "getcheckinterval", lambda: 100),
    ):
        if not hasattr(module, name):
            setattr(module, name, value)


def _accept_mode_u(original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def open(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if "U" in mode:
            mode = mode.replace("U", "")
            mode = mode if "r" in mode else f"r{mode}"
        return original(file, mode, *arguments, **named)

    return open
