"""Answers the imports of an old codebase; those of installed libraries stay as they are.

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
from estimator_train.legacy.codebase import is_own_module, own_copy

# Modules that a tree answers for; only the names are needed to know which imports to look at.
ROOTS = frozenset({"tensorflow", "tensorflow_estimator", "numpy", "collections", "inspect", "time"})
_THEIRS = "_estimator_train_of_the_codebase"


class Imports:
    """Stands in for Python's import while a codebase runs.

    Args:
      prepared_tree: Called at the first import of TensorFlow with the importing module's names;
        returns the Tree that the codebase sees.
      directory: Where the codebase's top-level modules are.
    """

    def __init__(self, prepared_tree: Callable[[Mapping[str, Any]], Any], directory: str) -> None:
        self._prepared_tree = prepared_tree
        self._directory = directory
        self._tree: Any = None
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
        root = name.partition(".")[0]
        if level == 0 and (root in ROOTS or root == "estimator_train") and is_own_module(globals):
            module = self._found(name, globals or {})
            if module is not None:
                return self._given(module, root, name, fromlist or ())
        return self._import(name, globals, locals, fromlist or (), level)

    def _function(self, name: str, package: str | None = None) -> ModuleType:
        root = name.partition(".")[0]
        caller = sys._getframe(1).f_globals
        if (root in ROOTS or root == "estimator_train") and is_own_module(caller):
            module = self._found(name, caller)
            if module is not None:
                return module
        return self._import_module(name, package)

    def _found(self, name: str, importer: Mapping[str, Any]) -> ModuleType | None:
        root = name.partition(".")[0]
        if own_copy(root, self._directory):
            # A codebase may have an estimator_train.py of its own; the name is taken by this one.
            return self._theirs(name) if root == "estimator_train" else None
        if root == "estimator_train":
            return None
        if root.startswith("tensorflow") and self._tree is None:
            self._tree = self._prepared_tree(importer)
        # Until TensorFlow is imported, and its generation known, the few others have a small tree.
        return (self._tree or trees.python_tree()).module(name)

    def _theirs(self, name: str) -> ModuleType:
        if _THEIRS not in sys.modules:
            package = sys.modules[_THEIRS] = ModuleType(_THEIRS)
            package.__path__ = [self._directory]
        return self._import_module(f"{_THEIRS}.{name}")

    def _given(
        self, module: ModuleType, root: str, name: str, fromlist: Sequence[str]
    ) -> ModuleType:
        """What the statement binds; names that are not there are told with what to use instead."""
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
        if fromlist or "." not in name:
            return module
        top = self._theirs(root) if root == "estimator_train" else None
        return top or (self._tree or trees.python_tree()).module(root)
