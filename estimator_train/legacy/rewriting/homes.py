"""Where the object of an old name can be imported from today, without a runner."""

import importlib
from types import ModuleType
from typing import Any, NamedTuple

from estimator_train.legacy import trees
from estimator_train.legacy.trees import moved
from estimator_train.legacy.trees.view import View

_V1 = "tensorflow.compat.v1"
# Modules by which scripts reach the names below them.
_ENTRANCES = (_V1, "tensorflow", "estimator_train.compat.v1", "estimator_train")
# Objects of TensorFlow that work once estimator_train is imported: it is named instead.
_KERAS = ("keras.estimator", "keras.estimator.model_to_estimator")
_KERAS_HOMES = {
    trees.TF1: ("estimator_train.compat.v1", "keras"),
    trees.TF2: ("estimator_train", "keras"),
}


class Home(NamedTuple):
    """A place that an object can be imported from.

    Attributes:
      module: A module that can be imported.
      path: The dotted name in it, or "" for the module itself.
    """

    module: str
    path: str

    def object(self) -> Any:
        """The object.

        Raises:
          AttributeError, ImportError: It is not there.
        """
        return _member(importlib.import_module(self.module), self.path)


class Homes:
    """Answers for all names of one generation.

    Args:
      generation: TF1 or TF2.
    """

    def __init__(self, generation: str) -> None:
        self._generation = generation
        self._tree = trees.tree(generation)
        self.tensorflow = _V1 if generation == trees.TF1 else "tensorflow"

    def steps(self, dotted: str) -> int:
        """How many names of a dotted name are modules or the object that they lead to.

        Raises:
          AttributeError, ImportError: The name does not exist.
        """
        root, *names = dotted.split(".")
        value: Any = self._tree.module(root)
        for count, name in enumerate(names, 1):
            if not isinstance(value, ModuleType):
                return count
            value = getattr(value, name)
        return len(names) + 1

    def literal(self, dotted: str) -> str | None:
        """The text of a name that stands for a value, such as the version that scripts ask for."""
        target = self._tree.target(dotted)
        return repr(target()) if callable(target) else None

    def home(self, dotted: str) -> Home:
        """Where the object of a name is; one that needs no other module stays where it is.

        Args:
          dotted: A name, no longer than its `steps`.

        Raises:
          AttributeError, ImportError: The name does not exist, or no module has it.
        """
        keras = self._of_keras(dotted)
        if keras:
            return keras
        found = self._found(dotted)
        as_it_was = self._as_it_was(dotted)
        return as_it_was if as_it_was and _is_same(found.object(), as_it_was.object()) else found

    def is_at(self, dotted: str, base: Home, path: tuple[str, ...]) -> bool:
        """Whether the object of a name is also to be had from another module's.

        Args:
          dotted: The name.
          base: The module.
          path: The names from there.
        """
        if self._of_keras(dotted):
            return False
        try:
            value = _member(base.object(), ".".join(path))
            return _is_same(self._found(dotted).object(), value)
        except (AttributeError, ImportError):
            return False

    def _of_keras(self, dotted: str) -> Home | None:
        root, _, path = dotted.partition(".")
        path = path.removeprefix("compat.v1.").removeprefix("compat.v2.")
        if root != "tensorflow" or path not in _KERAS:
            return None
        first = self._generation == trees.TF1 or dotted.startswith(_V1)
        module, name = _KERAS_HOMES[trees.TF1 if first else trees.TF2]
        return Home(module, path.replace("keras.estimator", name))

    def _as_it_was(self, dotted: str) -> Home | None:
        """The same name in the TensorFlow of today, if it is there."""
        root, _, path = dotted.partition(".")
        module = self.tensorflow if root == "tensorflow" else root
        try:
            _member(importlib.import_module(module), path)
        except (AttributeError, ImportError):
            return None
        return Home(module, path)

    def _found(self, dotted: str) -> Home:
        view, name = self._last_view(dotted)
        if not name:
            return self._of_view(view)
        inner, _, rest = name.partition(".")
        target = self._tree.target(f"{view.__name__}.{inner}")
        if isinstance(target, str):
            module, _, path = target.partition(":")
            return _importable(f"{module}.{path}.{rest}".rstrip("."))
        for module in self._tree.behind(view):
            try:
                home = _importable(f"{module}.{name}")
                home.object()
            except (AttributeError, ImportError):
                continue
            return home
        if view.__name__.startswith("tensorflow.python"):
            return _importable(moved.target(view.__name__, inner).replace(":", "."))
        raise AttributeError(dotted)

    def _last_view(self, dotted: str) -> tuple[View, str]:
        """The last view along a name, and the names from there."""
        root, *names = dotted.split(".")
        value: Any = self._tree.module(root)
        view, rest = value, names
        for count, name in enumerate(names, 1):
            value = getattr(value, name)
            if isinstance(value, View):
                view, rest = value, names[count:]
        return view, ".".join(rest)

    def _of_view(self, view: View) -> Home:
        if view.__name__ == "tensorflow":
            return Home(self.tensorflow, "")
        for module in self._tree.behind(view):
            return _importable(module)
        raise AttributeError(view.__name__)


def _importable(dotted: str) -> Home:
    """A dotted name parted into a module to import and the rest."""
    for start in _ENTRANCES:
        inside = dotted.startswith(("tensorflow.python", "estimator_train.legacy"))
        if not inside and (dotted == start or dotted.startswith(f"{start}.")):
            path = dotted[len(start) + 1 :]
            try:
                _member(importlib.import_module(start), path)
            except AttributeError:
                continue
            return Home(start, path)
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            importlib.import_module(module)
        except ImportError:
            continue
        return Home(module, ".".join(parts[length:]))
    raise ImportError(f"No module named {dotted!r}")


def _member(value: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value


def _is_same(one: Any, other: Any) -> bool:
    """Whether two objects are one; modules may be loaded lazily under another object."""
    if isinstance(one, ModuleType) and isinstance(other, ModuleType):
        return one.__name__ == other.__name__
    return one is other
