"""Modules as an old codebase sees them: names of its time, in front of today's modules."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from estimator_train.legacy.trees.missing import MissingSymbol, missing

# Dunder names that a view takes from the module behind it.
_PASSED_ON = ("__version__", "__internal__", "__git_version__", "__compiler_version__", "__file__")


class View(ModuleType):
    """A module whose names a Tree finds, each when it is first asked for.

    Args:
      name: The dotted name by which the codebase imports it.
      tree: Finds its names.
      behind: Today's modules whose names it has, looked through in this order.
    """

    def __init__(self, name: str, tree: Tree, behind: Sequence[Any]) -> None:
        super().__init__(name)
        self.__dict__.update(_tree=tree, _behind=tuple(behind), __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            imported = {key for module in self._behind for key in _imported_by(module)}
            return [key for key in dir(self) if not key.startswith("_") and key not in imported]
        if name.startswith("__") and name not in _PASSED_ON:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = self.__dict__[name] = self._tree.find(self, name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Puts a name in its place, also where TensorFlow itself looks it up."""
        super().__setattr__(name, value)
        if self._tree.target(f"{self.__name__}.{name}") is None:
            for module in self._behind:
                if name in getattr(module, "__dict__", {}):
                    setattr(module, name, value)
                    return

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raises: below tf.contrib's `python` it was a function's name that is missing."""
        raise missing(self.__name__)

    def __dir__(self) -> list[str]:
        behind = (key for module in self._behind for key in dir(module))
        return sorted({*self.__dict__, *behind, *self._tree.names_below(self.__name__)})


def _imported_by(module: Any) -> Iterator[str]:
    """Names that a stand-in has for its own use: modules of others, and what is Python's own."""
    ours = __name__.partition(".")[0]
    if not getattr(module, "__name__", "").startswith(f"{ours}."):
        return
    for key, value in vars(module).items():
        if isinstance(value, ModuleType):
            is_imported = value.__name__.partition(".")[0] != ours
        else:
            home = str(getattr(value, "__module__", "")).partition(".")[0]
            is_imported = home in sys.stdlib_module_names
        if is_imported:
            yield key


class Tree:
    """All modules that a codebase of one generation sees otherwise than they are.

    A dotted name stands for an object as `module:attribute` (see `pkgutil.resolve_name`).

    Args:
      modules: Dotted names of modules to the objects behind each; of a module that is not listed
        and has a listed name below it, the same module of those behind its parent.
      names: Dotted names to the objects that they stand for, or to a function that returns one.
      aliases: Dotted names of modules to the dotted names of those that they are.
      open_ended: Modules below which all modules are views, so that `fallback` is asked there.
      fallback: Called with a view and a name that is not there; returns its object or raises
        MissingSymbol.
    """

    def __init__(
        self,
        modules: Mapping[str, Sequence[str]],
        names: Mapping[str, str | Callable[[], Any]],
        aliases: Mapping[str, str],
        open_ended: tuple[str, ...],
        fallback: Callable[[View, str], Any],
    ) -> None:
        self._modules = modules
        self._names = names
        self._aliases = aliases
        self._open_ended = tuple(f"{name}." for name in open_ended)
        self._fallback = fallback
        self._views: dict[str, View] = {}
        keys = (*modules, *names, *aliases)
        self._inner = {
            key.rsplit(".", depth)[0] for key in keys for depth in range(1, key.count(".") + 1)
        }

    def module(self, dotted: str) -> ModuleType:
        """The module that `import dotted` gives.

        Raises:
          ModuleNotFoundError: The module does not exist.
        """
        root, *inner = dotted.split(".")
        module: Any = self.view(self._aliases.get(root, root), ())
        for name in inner:
            try:
                module = getattr(module, name)
            except MissingSymbol as error:
                raise ModuleNotFoundError(str(error), name=dotted) from None
            except AttributeError:
                raise ModuleNotFoundError(f"No module named {dotted!r}", name=dotted) from None
        return module

    def find(self, view: View, name: str) -> Any:
        """The object that a name of a view stands for.

        Raises:
          MissingSymbol: None.
        """
        dotted = f"{view.__name__}.{name}"
        if dotted in self._aliases:
            return self.module(self._aliases[dotted])
        if dotted in self._names:
            return _resolved(self._names[dotted])
        found = (value for module in view._behind for value in _member(module, name))
        if dotted in self._modules or dotted in self._inner:
            return self.view(dotted, list(found))
        for value in found:
            if isinstance(value, ModuleType) and dotted.startswith(self._open_ended):
                return self.view(dotted, [value, *(v for v in found if isinstance(v, ModuleType))])
            return value
        return self._fallback(view, name)

    def view(self, dotted: str, behind: Sequence[Any]) -> View:
        """The view of a dotted name, always the same one.

        Args:
          dotted: The name.
          behind: The modules behind it, if `modules` does not say.
        """
        if dotted not in self._views:
            if dotted in self._modules:
                behind = [_resolved(source) for source in self._modules[dotted]]
            elif not behind and "." not in dotted:
                behind = [importlib.import_module(dotted)]
            self._views[dotted] = View(dotted, self, behind)
        return self._views[dotted]

    def target(self, dotted: str) -> str | Callable[[], Any] | None:
        """What `names` has of a dotted name, or None."""
        return self._names.get(dotted)

    def behind(self, view: View) -> list[str]:
        """The dotted names of the modules behind a view."""
        listed = self._modules.get(view.__name__)
        if listed is None:
            return [module.__name__ for module in view._behind]
        return [name.replace(":", ".") for name in listed]

    def names_below(self, dotted: str) -> set[str]:
        """The names that this tree adds to a module."""
        start = f"{dotted}."
        keys = (*self._modules, *self._names, *self._aliases)
        return {key[len(start) :].split(".")[0] for key in keys if key.startswith(start)}


def _resolved(target: str | Callable[[], Any]) -> Any:
    if callable(target):
        return target()
    module, _, attribute = target.partition(":")
    return pkgutil.resolve_name(f"{module}:{attribute}")


def _member(module: Any, name: str) -> Iterator[Any]:
    """The attribute or submodule `name`, if there is one."""
    try:
        yield getattr(module, name)
        return
    except (AttributeError, ModuleNotFoundError):
        pass
    if not hasattr(module, "__path__"):
        return
    try:
        yield importlib.import_module(f"{module.__name__}.{name}")
    except ModuleNotFoundError as error:
        if not f"{module.__name__}.{name}".startswith(error.name or "\0"):
            raise  # A library that the submodule needs is missing: that is another mistake.
