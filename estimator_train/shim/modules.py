"""The modules that `bootstrap.import_hook` shows to every importer of the process.

With the folder `legacy` they are the views of `estimator-train run`; a view finds each name when it
is used. Without the folder they are modules of this package.
"""

import importlib
from types import ModuleType
from typing import Any

from estimator_train.bootstrap import import_hook
from estimator_train.compat import has_legacy

# The modules of an installation without the folder `legacy`.
_WITHOUT_LEGACY = {
    "tensorflow.estimator": "estimator_train",
    "tensorflow.compat.v1.estimator": "estimator_train.compat.v1",
    "tensorflow.compat.v2.estimator": "estimator_train",
    "tensorflow_estimator": "estimator_train",
    "tensorflow_estimator.python": "estimator_train.compat",
    "tensorflow_estimator.python.estimator.keras_lib": "estimator_train.compat.keras_lib",
}


def has(name: str) -> bool:
    """Returns whether a module exists.

    Args:
      name: The dotted name, which begins with `tensorflow_estimator` or a path to `tf.estimator`.
    """
    if not has_legacy():
        return name in _WITHOUT_LEGACY
    from estimator_train.legacy.old_names import shown

    return shown.has(name)


def find_view(name: str) -> ModuleType:
    """Returns the module that has the names of a shown module."""
    if not has_legacy():
        return importlib.import_module(_WITHOUT_LEGACY.get(name, "estimator_train.compat.v1"))
    from estimator_train.legacy.old_names import shown

    return shown.find_view(name)


def find_attribute(module: str, name: str) -> Any:
    """Returns an attribute of a shown module.

    Args:
      module: The dotted name of the module.
      name: The attribute. A module that is shown too is imported.

    Raises:
      AttributeError: The attribute does not exist.
    """
    import_hook.load_tracked_modules()
    value = getattr(find_view(module), name)
    inner = f"{module}.{name}"
    is_view = isinstance(value, ModuleType) and value.__name__ == inner
    return importlib.import_module(inner) if is_view else value
