"""Compiles sources whose arrays are indexed with lists of slices, which NumPy 1.23 removed.

NumPy's arrays cannot be changed, so the index is: `a[where]` becomes `a[as_index(where)]`, which
makes a tuple of a list that contains a slice, an ellipsis or None. No other list of these is a
valid index, so all other subscripts keep their meaning.
"""

import ast
import builtins
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable
from typing import Any

_AS_INDEX = "_estimator_train_as_index"
_MARK = b"slice("
_SOURCES = importlib.machinery.SOURCE_SUFFIXES


def compile_source(source: bytes, path: str) -> types.CodeType:
    """Compiles a source file of the codebase.

    Args:
      source: Its content.
      path: Its path, for tracebacks.

    Raises:
      SyntaxError: It is not Python 3.
      ValueError: It contains zero bytes.
    """
    if _MARK not in source:
        return compile(source, path, "exec", dont_inherit=True)
    tree = _Indices().visit(ast.parse(source, path))
    vars(builtins).setdefault(_AS_INDEX, _as_index)
    return compile(tree, path, "exec", dont_inherit=True)


def install(is_codebase_file: Callable[[str], bool]) -> None:
    """Compiles the modules of the codebase with `compile_source` when they are imported.

    Args:
      is_codebase_file: Returns whether a source file belongs to the codebase.
    """
    machinery = importlib.machinery
    loaders: list[Any] = [
        (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
        (_Loader, _SOURCES),
        (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
    ]
    find = machinery.FileFinder.path_hook(*loaders)

    def find_in_codebase(folder: str) -> Any:
        if not is_codebase_file(os.path.join(folder, "module.py")):
            raise ImportError(f"{folder} is no folder of the codebase")
        return find(folder)

    sys.path_hooks.insert(0, find_in_codebase)
    for folder in [*sys.path_importer_cache]:
        if is_codebase_file(os.path.join(folder, "module.py")):
            del sys.path_importer_cache[folder]


class _Loader(importlib.machinery.SourceFileLoader):
    """Loader whose compiled code is not written to `__pycache__`, where `python` would find it."""

    def get_code(self, fullname: str) -> types.CodeType | None:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        return compile_source(source, path) if _MARK in source else super().get_code(fullname)


class _Indices(ast.NodeTransformer):
    """Transformer of the indices that may be lists when the code runs."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.slice, (ast.Constant, ast.Slice, ast.Tuple, ast.JoinedStr)):
            name = ast.Name(_AS_INDEX, ast.Load())
            node.slice = ast.copy_location(ast.Call(name, [node.slice], []), node.slice)
            ast.fix_missing_locations(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:  # Annotations are texts for tools.
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node


def _as_index(index: Any) -> Any:
    """Returns the tuple of a list with a slice, an ellipsis or None; any other index unchanged."""
    if type(index) is list and any(
        isinstance(part, slice) or part is None or part is Ellipsis for part in index
    ):
        return tuple(index)
    return index
