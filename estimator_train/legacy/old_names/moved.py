"""Finds names that have moved out of a private module of TensorFlow or Keras."""

import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from estimator_train.legacy.old_names.private import KERAS, ROOT

_V1 = "tensorflow:compat.v1"
# Public modules that are searched before private ones.
_PUBLIC = ("", ".nn", ".train", ".nn.rnn_cell", ".losses", ".feature_column", ".saved_model")
_PUBLIC_KERAS = ("", ".layers", ".models", ".utils", ".callbacks", ".losses", ".metrics")
# Parts of module names that hold another version of a function or only its operation: tried last.
_LOW_PRIORITY = (".gen_", "_v1", "_v2", ".legacy", ".types.")
# Decorators of public names, which every old module has among its names.
_EXPORTS = {
    "tf_export": "tf_export",
    "estimator_export": "tf_export",
    "keras_export": "keras_export",
}


def find_target(module: str, name: str) -> str:
    """Returns where a name that has moved is defined today, as `module:attribute`.

    A public object of the same name comes first. Otherwise the loaded private modules are searched:
    for a definition in a module of the same last name, or for the only definition.

    Args:
      module: The old module, below `tensorflow.python`.
      name: The name.

    Raises:
      AttributeError: No definition, or several definitions in modules of other names.
    """
    if name in _EXPORTS:
        return f"{ROOT}.util.tf_export:{_EXPORTS[name]}"
    is_keras = module.startswith(KERAS)
    if not name.startswith("_"):
        public, root = (_PUBLIC_KERAS, "tensorflow:keras") if is_keras else (_PUBLIC, _V1)
        for path in public:
            if hasattr(pkgutil.resolve_name(f"{root}{path}"), name):
                return f"{root}{path}.{name}"
    private_root = "tf_keras.src" if is_keras else ROOT
    definitions = sorted(_find_definitions(name, private_root), key=_sort_key)
    matches = [found for found in definitions if _get_last_part(found) == _get_last_part(module)]
    if not matches and (len(definitions) == 1 or (is_keras and not name.startswith("_"))):
        matches = definitions
    if not matches:
        raise AttributeError(name)
    return f"{matches[0]}:{name}"


def find_object(module: str, name: str) -> Any:
    """Returns the object of a name that has moved; see `find_target`."""
    return pkgutil.resolve_name(find_target(module, name))


def find_models_clone() -> ModuleType | None:
    """Returns the package of a clone of tensorflow/models, or None.

    Programs import it as `tensorflow.models`, from a clone inside the installed TensorFlow. The
    folder that contains the clone is on PYTHONPATH here.
    """
    spec = importlib.util.find_spec("models")
    folders = (spec and spec.submodule_search_locations) or ()
    is_clone = any(os.path.isdir(os.path.join(folder, "research")) for folder in folders)
    return importlib.import_module("models") if is_clone else None


def _find_definitions(name: str, root: str) -> Iterator[str]:
    """Yields the loaded modules below a root that define a name."""
    for module, loaded in list(sys.modules.items()):
        if not module.startswith(f"{root}.") or (root == ROOT and module.startswith(KERAS)):
            continue
        found = getattr(loaded, "__dict__", {}).get(name)
        if found is not None and getattr(found, "__module__", None) == module:
            yield module


def _sort_key(module: str) -> tuple[bool, str]:
    return any(part in f".{module}" for part in _LOW_PRIORITY), module


def _get_last_part(module: str) -> str:
    return module.rpartition(".")[2]
