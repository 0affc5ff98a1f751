"""Where a name is today that has left its private module of TensorFlow or Keras."""

import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

from estimator_train.legacy.trees.private import KERAS, ROOT

_V1 = "tensorflow:compat.v1"
# Public modules in which a name that has left its private one is looked for first.
_PUBLIC = ("", ".nn", ".train", ".nn.rnn_cell", ".losses", ".feature_column", ".saved_model")
_PUBLIC_KERAS = ("", ".layers", ".models", ".utils", ".callbacks", ".losses", ".metrics")
# Of several definitions those that stand for another version, or only call the operation, go last.
_LAST = (".gen_", "_v1", "_v2", ".legacy", ".types.")
# What marked public names; modules had these among their own.
_EXPORTS = {
    "tf_export": "tf_export",
    "estimator_export": "tf_export",
    "keras_export": "keras_export",
}


def target(module: str, name: str) -> str:
    """The object of a name that has left its private module, as `module:attribute`.

    It is what is public under the same name, or else the one definition of it that is loaded; a
    definition in a module whose last name is the old one's is preferred.

    Args:
      module: The module, below `tensorflow.python`.
      name: The name.

    Raises:
      AttributeError: There is none, or more than one and none of them in such a module.
    """
    if name in _EXPORTS:
        return f"{ROOT}.util.tf_export:{_EXPORTS[name]}"
    of_keras = module.startswith(KERAS)
    if not name.startswith("_"):
        public, root = (_PUBLIC_KERAS, "tensorflow:keras") if of_keras else (_PUBLIC, _V1)
        for path in public:
            if hasattr(pkgutil.resolve_name(f"{root}{path}"), name):
                return f"{root}{path}.{name}"
    definitions = sorted(_definitions(name, "tf_keras.src" if of_keras else ROOT), key=_order)
    alike = [found for found in definitions if _last(found) == _last(module)]
    if not alike and (len(definitions) == 1 or (of_keras and not name.startswith("_"))):
        alike = definitions
    if not alike:
        raise AttributeError(name)
    return f"{alike[0]}:{name}"


def value(module: str, name: str) -> Any:
    """The object itself; arguments and errors as for `target`."""
    return pkgutil.resolve_name(target(module, name))


def _definitions(name: str, root: str) -> Iterator[str]:
    """The loaded modules below a root that define a name themselves."""
    for module, loaded in list(sys.modules.items()):
        if not module.startswith(f"{root}.") or (root == ROOT and module.startswith(KERAS)):
            continue
        found = getattr(loaded, "__dict__", {}).get(name)
        if found is not None and getattr(found, "__module__", None) == module:
            yield module


def _order(module: str) -> tuple[bool, str]:
    return any(part in f".{module}" for part in _LAST), module


def _last(module: str) -> str:
    return module.rpartition(".")[2]
