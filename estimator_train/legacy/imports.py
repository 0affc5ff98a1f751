"""Answers the imports of an old codebase, and of installed libraries that are as old.

Python calls `builtins.__import__` with the names of the module that imports: by its file one knows
whose it is.
"""

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from estimator_train.legacy import trees
from estimator_train.legacy.codebase import is_old_library, is_own_module, source_of
from estimator_train.legacy.trees.view import Tree

# Modules that a tree answers for; only the names are needed to know which imports to look at.
ROOTS = frozenset(
    [
        "tensorflow",
        "tensorflow_core",
        "tensorflow_estimator",
        "keras",
        "numpy",
        "collections",
        "dataclasses",
        "inspect",
        "time",
    ]
)
# Libraries mean Keras 2 by it; in a codebase it is the Keras that is installed.
_OF_LIBRARIES = frozenset({"keras"})
_OURS = "estimator_train"
_ANSWERED = ROOTS | {_OURS}
_THEIRS = "_estimator_train_of_the_codebase"


class Imports:
    """Stands in for Python's import while a codebase runs.

    Args:
      prepared_tree: Called at the first import of TensorFlow with the importing module's names;
        returns the Tree that the codebase, and its old libraries, see.
      directory: Where the codebase's top-level modules are.
    """

    def __init__(self, prepared_tree: Callable[[Mapping[str, Any]], Tree], directory: str) -> None:
        self._prepared_tree = prepared_tree
        self._directory = directory
        self._tree: Tree | None = None
        self._import = builtins.__import__
        self._import_module = importlib.import_module

    def install(self) -> None:
        """Takes the place of Python's import statement and `importlib.import_module`."""
        builtins.__import__ = self._statement
        importlib.import_module = self._function

    def _statement(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        find = self._finder(name, globals) if level == 0 else None
        if find is not None:
            return self._given(find, name, fromlist or ())
        return self._import(name, globals, locals, fromlist or (), level)

    def _function(self, name: str, package: str | None = None) -> ModuleType:
        find = self._finder(name, sys._getframe(1).f_globals)
        return find(name) if find is not None else self._import_module(name, package)

    def _finder(
        self, name: str, importer: Mapping[str, Any] | None
    ) -> Callable[[str], ModuleType] | None:
        """What answers the import of a module; None if Python itself does."""
        root = name.partition(".")[0]
        if root not in _ANSWERED:
            return None
        is_own = root not in _OF_LIBRARIES and is_own_module(importer)
        if not importer or not (is_own or is_old_library(importer, root)):
            return None
        if is_own and source_of(root, self._directory):
            # A codebase may have an estimator_train.py of its own; the name is taken by this one.
            return self._theirs if root == _OURS else None
        if root == _OURS:
            return None
        if root.startswith("tensorflow") and self._tree is None:
            self._tree = self._prepared_tree(importer)
        # Until TensorFlow is imported, and its generation known, the few others have a small tree.
        return (self._tree or trees.python_tree()).module

    def _theirs(self, name: str) -> ModuleType:
        if _THEIRS not in sys.modules:
            package = sys.modules[_THEIRS] = ModuleType(_THEIRS)
            package.__path__ = [self._directory]
        return self._import_module(f"{_THEIRS}.{name}")

    def _given(
        self, find: Callable[[str], ModuleType], name: str, fromlist: Sequence[str]
    ) -> ModuleType:
        """What the statement binds; names that are not there are told with what to use instead."""
        module = find(name)
        for wanted in fromlist:
            if wanted == "*":
                continue
            try:
                getattr(module, wanted)
            except AttributeError as error:
                if module.__name__.startswith(_THEIRS):
                    self._import_module(f"{module.__name__}.{wanted}")
                else:
                    raise ImportError(str(error), name=name) from None
        return module if fromlist else find(name.partition(".")[0])
