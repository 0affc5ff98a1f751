"""Finds where a program can import the object of an old name without `estimator-train run`."""

import importlib
from types import ModuleType
from typing import Any, NamedTuple

from estimator_train.legacy import old_names
from estimator_train.legacy.old_names import moved
from estimator_train.legacy.old_names.view import View

_V1 = "tensorflow.compat.v1"
# Modules that a copy imports to reach the names below them.
_ENTRY_MODULES = (_V1, "tensorflow", "estimator_train.compat.v1", "estimator_train")
# Names of TensorFlow that work only after `import estimator_train`: a copy imports it instead.
_KERAS = ("keras.estimator", "keras.estimator.model_to_estimator")
_KERAS_LOCATIONS = {
    old_names.TF1: ("estimator_train.compat.v1", "keras"),
    old_names.TF2: ("estimator_train", "keras"),
}


class Location(NamedTuple):
    """Place from which an object can be imported.

    Attributes:
      module: The module to import.
      path: The dotted name in the module, or "" for the module itself.
    """

    module: str
    path: str

    @property
    def dotted(self) -> str:
        """The complete dotted name."""
        return f"{self.module}.{self.path}" if self.path else self.module

    def object(self) -> Any:
        """Returns the object.

        Raises:
          AttributeError, ImportError: The object does not exist.
        """
        return _get_member(importlib.import_module(self.module), self.path)


class LocationFinder:
    """Finds the locations of the names of one generation.

    Args:
      generation: TF1 or TF2.
    """

    def __init__(self, generation: str) -> None:
        self._generation = generation
        self._tree = old_names.tree(generation)
        self.tensorflow = _V1 if generation == old_names.TF1 else "tensorflow"

    def count_known(self, dotted: str) -> int:
        """Counts the first names of a dotted name that are modules, plus the object after them.

        Raises:
          AttributeError, ImportError: The name does not exist.
        """
        return len(list(self._tree.walk(dotted)))

    def literal(self, dotted: str) -> str | None:
        """Returns the literal for a name whose value is computed, such as the version, or None."""
        target = self._tree.target(dotted)
        return repr(target()) if callable(target) else None

    def find(self, dotted: str) -> Location:
        """Returns the location of a name: the same name in the installed TensorFlow if possible.

        Args:
          dotted: A name of at most `count_known` parts.

        Raises:
          AttributeError, ImportError: The name does not exist, or no module has it.
        """
        keras = self._find_keras(dotted)
        if keras:
            return keras
        found = self._find_in_tree(dotted)
        unchanged = self._find_unchanged(dotted)
        return unchanged if unchanged and _is_same(found.object(), unchanged.object()) else found

    def is_at(self, dotted: str, base: Location, path: tuple[str, ...]) -> bool:
        """Returns whether the object of a name is also found by a path from another object.

        Args:
          dotted: The name.
          base: The location of the other object.
          path: The names after that object.
        """
        if self._find_keras(dotted):
            return False
        try:
            value = _get_member(base.object(), ".".join(path))
            return _is_same(self._find_in_tree(dotted).object(), value)
        except (AttributeError, ImportError):
            return False

    def _find_keras(self, dotted: str) -> Location | None:
        root, _, path = dotted.partition(".")
        path = path.removeprefix("compat.v1.").removeprefix("compat.v2.")
        if root != "tensorflow" or path not in _KERAS:
            return None
        is_v1 = self._generation == old_names.TF1 or dotted.startswith(_V1)
        module, name = _KERAS_LOCATIONS[old_names.TF1 if is_v1 else old_names.TF2]
        return Location(module, path.replace("keras.estimator", name))

    def _find_unchanged(self, dotted: str) -> Location | None:
        """Returns the location of the same name in the installed TensorFlow, or None."""
        root, _, path = dotted.partition(".")
        module = self.tensorflow if root == "tensorflow" else root
        try:
            _get_member(importlib.import_module(module), path)
        except (AttributeError, ImportError):
            return None
        return Location(module, path)

    def _find_in_tree(self, dotted: str) -> Location:
        view, name = self._split_at_last_view(dotted)
        if not name:
            return self._find_view(view)
        inner, _, rest = name.partition(".")
        target = self._tree.target(f"{view.__name__}.{inner}")
        if isinstance(target, str):
            module, _, path = target.partition(":")
            return _split_at_module(f"{module}.{path}.{rest}".rstrip("."))
        for module in self._tree.backing_names(view):
            try:
                location = _split_at_module(f"{module}.{name}")
                location.object()
            except (AttributeError, ImportError):
                continue
            return location
        if view.__name__.startswith("tensorflow.python"):
            return _split_at_module(moved.find_target(view.__name__, inner).replace(":", "."))
        raise AttributeError(dotted)

    def _split_at_last_view(self, dotted: str) -> tuple[View, str]:
        """Returns the last view along a dotted name, and the names after it."""
        names = dotted.split(".")
        views = [value for value in self._tree.walk(dotted) if isinstance(value, View)]
        return views[-1], ".".join(names[len(views) :])

    def _find_view(self, view: View) -> Location:
        if view.__name__ == "tensorflow":
            return Location(self.tensorflow, "")
        for module in self._tree.backing_names(view):
            return _split_at_module(module)
        raise AttributeError(view.__name__)


def _split_at_module(dotted: str) -> Location:
    """Splits a dotted name into a module to import and the names after it."""
    is_private = dotted.startswith(("tensorflow.python", "estimator_train.legacy", "tf_contrib"))
    for start in () if is_private else _ENTRY_MODULES:
        if dotted == start or dotted.startswith(f"{start}."):
            path = dotted[len(start) + 1 :]
            try:
                _get_member(importlib.import_module(start), path)
            except AttributeError:
                continue
            return Location(start, path)
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        return Location(module, ".".join(parts[length:]))
    raise ImportError(f"No module named {dotted!r}")


def _get_member(value: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value


def _is_same(one: object, other: object) -> bool:
    """Returns whether two objects are identical; modules are compared by name.

    TensorFlow's lazy loaders are other objects than the modules that they load.
    """
    if isinstance(one, ModuleType) and isinstance(other, ModuleType):
        return one.__name__ == other.__name__
    return one is other
