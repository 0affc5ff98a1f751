"""Modules with the names that an old codebase expects, backed by the installed modules."""

from __future__ import annotations

import functools
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from estimator_train.legacy.old_names.missing import MissingSymbol, make_error

# Dunder names that a view takes from its backing modules.
_FORWARDED = ("__version__", "__internal__", "__git_version__", "__compiler_version__", "__file__")


class View(ModuleType):
    """Module that the codebase imports; its Tree finds each name at the first use.

    Args:
      name: The dotted name by which the codebase imports it.
      tree: The tree that finds its names.
      backing: The installed modules that have its names, searched in this order.
    """

    if TYPE_CHECKING:
        # At run time these would be annotations of the module, which `get_type_hints` evaluates.
        _tree: Tree
        _backing: tuple[Any, ...]

    def __init__(self, name: str, tree: Tree, backing: Sequence[Any]) -> None:
        super().__init__(name)
        _read_stored(self).update(_tree=tree, _backing=tuple(backing), __path__=[])

    @property
    def __dict__(self) -> MutableMapping[str, Any]:  # type: ignore[override]
        """All names, for programs that read `tf.logging.__dict__[name]`."""
        return _LazyNames(self)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            imported = {key for module in self._backing for key in _find_imported_names(module)}
            return [key for key in dir(self) if not key.startswith("_") and key not in imported]
        # The tree also finds dotted names, which are no attributes.
        if "." in name or (name.startswith("__") and name not in _FORWARDED):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = _read_stored(self)[name] = self._tree.find(self, name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets a name here and in the backing module that defines it, where TensorFlow reads it."""
        super().__setattr__(name, value)
        if self._tree.target(f"{self.__name__}.{name}") is None:
            for module in self._backing:
                if name in getattr(module, "__dict__", {}):
                    setattr(module, name, value)
                    return

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raises MissingSymbol: the name below `python` in tf.contrib is a missing function."""
        raise make_error(self.__name__)

    def __mro_entries__(self, bases: tuple[object, ...]) -> NoReturn:
        """Raises MissingSymbol: a class has this module, a missing class, as its base."""
        raise make_error(self.__name__)

    def __dir__(self) -> list[str]:
        backing = (
            key
            for module in self._backing
            for key in dir(module)
            if not key.startswith("__") or key in _FORWARDED
        )
        return sorted({*_read_stored(self), *backing, *self._tree.names_below(self.__name__)})


class _LazyNames(MutableMapping[str, Any]):
    """Names of a view with their objects; each object is found when it is read.

    Args:
      view: The view.
    """

    def __init__(self, view: View) -> None:
        self._view = view

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self._view, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self._view, name, value)

    def __delitem__(self, name: str) -> None:
        delattr(self._view, name)

    def __contains__(self, name: object) -> bool:
        return name in dir(self._view)

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self._view))

    def __len__(self) -> int:
        return len(dir(self._view))


def get_generation(view: View) -> str | None:
    """Returns the generation of the tree that a view belongs to; see `Tree`."""
    return view._tree.generation


def _read_stored(view: View) -> dict[str, Any]:
    """Returns the names that a view has stored, as the interpreter keeps them for a module."""
    stored: dict[str, Any] = vars(ModuleType)["__dict__"].__get__(view)
    return stored


def _find_imported_names(module: Any) -> Iterator[str]:
    """Yields names that a module of this project imports for its own use.

    These are modules of other packages and names of the standard library.
    """
    own_packages = ("estimator_train", "tf_contrib")
    if getattr(module, "__name__", "").partition(".")[0] not in own_packages:
        return
    for key, value in vars(module).items():
        if isinstance(value, ModuleType):
            is_imported = value.__name__.partition(".")[0] not in own_packages
        else:
            home = str(getattr(value, "__module__", "")).partition(".")[0]
            is_imported = home in sys.stdlib_module_names
        if is_imported:
            yield key


class Tree:
    """All modules that a codebase of one generation sees as views.

    Tables name an object as `module:attribute` (see `pkgutil.resolve_name`).

    Attributes:
      generation: TF1 or TF2; None: the tree has old names of Python and its libraries only.

    Args:
      generation: See above.
      modules: Maps the dotted name of a module to its backing modules. A parent of a listed name
        that is not listed itself is backed by the submodules of its parent's backing modules.
      names: Maps a dotted name to its object, or to a function that returns the object.
      prepare: Maps a dotted name of `modules` to a function that is called before its first use.
      aliases: Maps the dotted name of a module to the dotted name of the same module.
      open_ended: Packages whose submodules are all views, so that `find_unlisted` is called there.
      find_unlisted: Called with a view and a name that no table or backing module has; returns the
        object or raises MissingSymbol.
    """

    def __init__(
        self,
        generation: str | None,
        modules: Mapping[str, Sequence[str]],
        names: Mapping[str, str | Callable[[], Any]],
        prepare: Mapping[str, str],
        aliases: Mapping[str, str],
        open_ended: tuple[str, ...],
        find_unlisted: Callable[[View, str], Any],
    ) -> None:
        self.generation = generation
        self._modules = modules
        self._names = names
        self._prepare = prepare
        self._aliases = aliases
        self._open_ended = tuple(f"{name}." for name in open_ended)
        self._find_unlisted = find_unlisted
        self._views: dict[str, View] = {}
        keys = (*modules, *names, *aliases)
        self._parents = {
            key.rsplit(".", depth)[0] for key in keys for depth in range(1, key.count(".") + 1)
        }

    def module(self, dotted: str) -> ModuleType:
        """Returns the module that `import dotted` imports.

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
                module = next(find_member(module, name), None)
                if module is None:
                    raise ModuleNotFoundError(f"No module named {dotted!r}", name=dotted) from None
        return module

    def walk(self, dotted: str) -> Iterator[Any]:
        """Yields the objects along a dotted name, from its root to the first that is no module.

        Raises:
          AttributeError, ImportError: A name does not exist.
        """
        root, *names = dotted.split(".")
        value: Any = self.module(root)
        yield value
        for name in names:
            if not isinstance(value, ModuleType):
                return
            if not isinstance(value, View) and _is_on_disk(value, name):
                return  # Its import would run a program that is only read.
            value = getattr(value, name)
            yield value

    def find(self, view: View, name: str) -> Any:
        """Returns the object of a name of a view.

        Raises:
          MissingSymbol: The name does not exist.
        """
        dotted = f"{view.__name__}.{name}"
        if dotted in self._aliases:
            return self.module(self._aliases[dotted])
        if dotted in self._names:
            value = _resolve(self._names[dotted])
            _copy_docstring(value, view._backing, name)
            return value
        if dotted in self._modules:
            return self.view(dotted, ())
        found = (value for module in view._backing for value in find_member(module, name))
        if dotted in self._parents:
            return self.view(dotted, list(found))
        for value in found:
            if isinstance(value, ModuleType) and dotted.startswith(self._open_ended):
                modules = [value, *(v for v in found if isinstance(v, ModuleType))]
                # An inner module such as tf.contrib.learn.python.learn.estimators has the names of
                # its package too.
                is_inner = ".python" in view.__name__.removeprefix("tensorflow.python")
                return self.view(dotted, [*modules, *(view._backing if is_inner else ())])
            return value
        return self._find_unlisted(view, name)

    def view(self, dotted: str, backing: Sequence[Any]) -> View:
        """Returns the view of a dotted name, the same object at each call.

        Args:
          dotted: The name.
          backing: The backing modules of a view that `modules` does not list.
        """
        if dotted not in self._views:
            if dotted in self._modules:
                backing = [_resolve(source) for source in self._modules[dotted]]
            elif not backing and "." not in dotted:
                backing = [importlib.import_module(dotted)]
            if dotted in self._prepare:
                _run_once(self._prepare[dotted])
            self._views[dotted] = View(dotted, self, backing)
        return self._views[dotted]

    def lists(self, dotted: str) -> bool:
        """Returns whether a table lists a module or a module inside it."""
        return dotted in self._modules or dotted in self._parents

    def target(self, dotted: str) -> str | Callable[[], Any] | None:
        """Returns the entry of a dotted name in `names`, or None."""
        return self._names.get(dotted)

    def backing_names(self, view: View) -> list[str]:
        """Returns the dotted names of a view's backing modules."""
        listed = self._modules.get(view.__name__)
        if listed is None:
            return [module.__name__ for module in view._backing]
        return [name.replace(":", ".") for name in listed]

    def names_below(self, dotted: str) -> set[str]:
        """Returns the names that this tree adds to a module."""
        start = f"{dotted}."
        keys = (*self._modules, *self._names, *self._aliases)
        return {key[len(start) :].split(".")[0] for key in keys if key.startswith(start)}


@functools.cache
def _run_once(target: str) -> None:
    """Calls a function, once in the process: two trees prepare the same modules."""
    _resolve(target)()


def _resolve(target: str | Callable[[], Any]) -> Any:
    if callable(target):
        return target()
    module, _, attribute = target.partition(":")
    return pkgutil.resolve_name(f"{module}:{attribute}")


def _is_on_disk(module: ModuleType, name: str) -> bool:
    """Returns whether a package has a submodule that is not imported."""
    is_imported = hasattr(module, name) or not hasattr(module, "__path__")
    return not is_imported and importlib.util.find_spec(f"{module.__name__}.{name}") is not None


def _copy_docstring(value: Any, modules: Sequence[Any], name: str) -> None:
    """Gives a function the docstring of the function that it replaces: libraries read those."""
    plain = [vars(module) for module in modules if type(module) is ModuleType]
    originals = [names[name] for names in plain if name in names]
    if originals and isinstance(value, FunctionType):
        value.__doc__ = originals[0].__doc__


def find_member(module: Any, name: str) -> Iterator[Any]:
    """Yields the attribute or submodule `name`, if the module has one."""
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
            raise  # The submodule exists and imports a library that is not installed.
