"""Redirects the imports of an old codebase and of installed libraries that use removed names.

Python calls `builtins.__import__` with the names of the importing module. Its `__file__` shows
whether it belongs to the codebase.
"""

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from estimator_train.legacy import old_names, removed
from estimator_train.legacy.codebase import find_source, is_codebase_module, is_old_library
from estimator_train.legacy.old_names.missing import MissingName, MissingSymbol
from estimator_train.legacy.old_names.view import Tree, View, find_member
from estimator_train.legacy.reading.import_time import is_guarded
from estimator_train.legacy.removed import file_names

# Top-level modules that the codebase imports from a Tree (`old_names/view.py`).
OWN_TREES = {"tensorflow", "tensorflow_core", "tensorflow_estimator", "keras"}
ROOTS = frozenset(OWN_TREES | {name.partition(".")[0] for name in removed.MODULES})
_KERAS = "keras"
_GOOGLE, _PROTOBUF = "google", "google.protobuf"
# Packages of this project whose names a codebase may use for its own modules.
OWN_PACKAGES = ("estimator_train", "tf_contrib")
# Starts of the names of modules that are as new as the installed TensorFlow.
_NEVER_OLD = ("tensorflow.python.", "tensorflow._api.", "tf_keras.")
# Holds the codebase's own modules whose names OWN_PACKAGES take in `sys.modules`.
_CODEBASE_PACKAGE = "_estimator_train_of_the_codebase"


class ImportRedirector:
    """Replacement of Python's import while a codebase runs.

    Args:
      prepare_tree: Called at the first import of TensorFlow with the importing module's names;
        returns the Tree that the codebase and its old libraries see.
      uses_keras_3: Called at the first import of `keras` in the codebase with the importing
        module's names; returns whether the codebase imports the installed Keras, not tf-keras.
      directory: The folder of the codebase's top-level modules.
    """

    def __init__(
        self,
        prepare_tree: Callable[[Mapping[str, Any]], Tree],
        uses_keras_3: Callable[[Mapping[str, Any]], bool],
        directory: str,
    ) -> None:
        self._prepare_tree = prepare_tree
        self._find_keras_3 = uses_keras_3
        self._uses_keras_3: bool | None = None
        self._directory = directory
        self._tree: Tree | None = None
        self._import = builtins.__import__
        self._import_module = importlib.import_module

    def install(self) -> None:
        """Replaces Python's import statement and `importlib.import_module`."""
        builtins.__import__ = self._run_import_statement
        importlib.import_module = self._run_import_module

    def load(self, dotted: str, importer: Mapping[str, Any]) -> ModuleType:
        """Returns a module of the tree, which is prepared if it is not.

        Args:
          dotted: The dotted name of the module.
          importer: The names of the module that imports it.

        Raises:
          ModuleNotFoundError: The module does not exist.
        """
        if self._tree is None:
            self._tree = self._prepare_tree(importer)
        return self._tree.module(dotted)

    def _run_import_statement(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        find = self._choose_finder(name, globals) if level == 0 else None
        if find is not None:
            return self._import_names(find, name, fromlist or (), sys._getframe(1))
        return self._import(name, globals, locals, fromlist or (), level)

    def _run_import_module(self, name: str, package: str | None = None) -> ModuleType:
        find = self._choose_finder(name, sys._getframe(1).f_globals)
        return find(name) if find is not None else self._import_module(name, package)

    def _choose_finder(
        self, name: str, importer: Mapping[str, Any] | None
    ) -> Callable[[str], ModuleType] | None:
        """Returns the function that imports the module, or None if Python imports it."""
        root = name.partition(".")[0]
        if root not in ROOTS and root not in OWN_PACKAGES:
            return None
        if root == _GOOGLE and not name.startswith(_PROTOBUF):  # Many packages share this root.
            return None
        # Most import statements of a program are TensorFlow's.
        if not importer or str(importer.get("__name__")).startswith(_NEVER_OLD):
            return None
        is_codebase = is_codebase_module(importer)
        if not (is_codebase or is_old_library(importer, root)):
            if root == "yaml":
                file_names.accept_missing_loaders()
            return None
        if is_codebase and root == _KERAS and self._imports_keras_3(importer):
            return None
        if is_codebase and find_source(root, self._directory):
            # Python imports the codebase's module, unless a package of this project has its name.
            return self._import_from_codebase if root in OWN_PACKAGES else None
        if root in OWN_PACKAGES:
            return None
        needs_tensorflow = root.startswith("tensorflow") or (is_codebase and root == _KERAS)
        if needs_tensorflow and self._tree is None:
            self._tree = self._prepare_tree(importer)
        # Before the first import of TensorFlow the generation is unknown; modules of Python and
        # NumPy do not depend on it.
        return (self._tree or old_names.python_tree()).module

    def _imports_keras_3(self, importer: Mapping[str, Any]) -> bool:
        if self._uses_keras_3 is None:
            self._uses_keras_3 = self._find_keras_3(importer)
        return self._uses_keras_3

    def _import_from_codebase(self, name: str) -> ModuleType:
        if _CODEBASE_PACKAGE not in sys.modules:
            package = sys.modules[_CODEBASE_PACKAGE] = ModuleType(_CODEBASE_PACKAGE)
            package.__path__ = [self._directory]
        return self._import_module(f"{_CODEBASE_PACKAGE}.{name}")

    def _import_names(
        self,
        find: Callable[[str], ModuleType],
        name: str,
        fromlist: Sequence[str],
        importer: FrameType,
    ) -> ModuleType:
        """Returns the module that the statement binds or takes names from.

        Raises:
          ImportError: A name does not exist, and its error cannot wait until its first use; the
            message says what to use.
        """
        module = find(name)
        postponed: dict[str, MissingName] = {}
        for attribute in fromlist:
            if attribute == "*":
                continue
            try:
                getattr(module, attribute)
            except AttributeError as error:
                if isinstance(error, MissingSymbol) and _can_postpone(name, importer):
                    postponed[attribute] = MissingName(str(error))
                elif isinstance(module, View) or not any(find_member(module, attribute)):
                    raise ImportError(str(error), name=name) from None
        if postponed:
            # Only this statement sees the missing names: `hasattr` of the module stays False.
            return _add_names(name, module, postponed)
        return module if fromlist else find(name.partition(".")[0])


def _can_postpone(module: str, importer: FrameType) -> bool:
    """Returns whether a missing name fails only at its first use, not at its import.

    An import in a `try` that catches the error fails, so that the program takes its other branch.
    """
    if not old_names.is_postponed(module):
        return False
    path = importer.f_globals.get("__file__")
    return not path or not is_guarded(path, importer.f_lineno)


def _add_names(dotted: str, module: ModuleType, names: Mapping[str, Any]) -> ModuleType:
    """Returns a module with the names of a module and further ones."""
    found = ModuleType(dotted)
    found.__dict__.update(names, __getattr__=lambda name: getattr(module, name))
    return found
