"""Names that Python and its libraries have removed since a codebase was written.

`MODULES` and `NAMES` are tables of a Tree (`legacy/trees/view.py`), so only the codebase and old
libraries see these names. Methods and arguments of classes have to be added to the classes
themselves: `PREPARE` names a function for each module, which runs when the codebase first imports
it.
"""

import errno
import os
import sys

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
    """Adds names to modules whose attributes change while a program runs, so that no view fits."""
    for module, name, value in (
        (os, "errno", errno),
        (sys, "setcheckinterval", lambda interval: None),
        (sys, "getcheckinterval", lambda: 100),
    ):
        if not hasattr(module, name):
            setattr(module, name, value)
