"""Reads from a source file which folders it adds to Python's search path of modules."""

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from estimator_train.legacy.reading.scopes import Scope, split_dotted

_ROOTS = frozenset({"os", "pathlib", "site", "sys"})
_METHODS = ("append", "insert", "extend", "addsitedir")
_OF_OS_PATH = ("abspath", "basename", "dirname", "expanduser", "join", "normpath", "realpath")
_FUNCTIONS: dict[str, Callable[..., object]] = {
    **{f"os.path.{name}": getattr(os.path, name) for name in _OF_OS_PATH},
    "os.getcwd": os.getcwd,
    "pathlib.Path": Path,
    "pathlib.Path.cwd": Path.cwd,
    "str": str,
}
_CONSTANTS = {"os.curdir": os.curdir, "os.pardir": os.pardir, "os.sep": os.sep}
_PATH_METHODS = ("absolute", "as_posix", "expanduser", "joinpath", "resolve")


def find_added_folders(file: Path, tree: ast.Module) -> list[Path]:
    """Returns the existing folders that the top level of a file adds to `sys.path`.

    A relative folder is searched in the working directory and in the folder of the file. Values
    that are not computed from literals, `__file__`, os.path and pathlib are left out.

    Args:
      file: The file, resolved.
      tree: The parsed file.
    """
    if not any(map(_may_add, _find_statements(tree.body))):
        return []
    reader = _Reader(file, tree)
    added = [str(value) for value in reader.read(_find_statements(tree.body))]
    candidates = (Path(base, value) for value in added for base in (Path.cwd(), file.parent))
    folders = (Path(os.path.abspath(path)) for path in candidates if path.is_dir())
    return list(dict.fromkeys(folders))


def _find_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields statements and those in their branches, without bodies of functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _find_statements(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _find_statements(handler.body)


def _may_add(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, (ast.Attribute, ast.Name))
    call = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", None)) in _METHODS


class _Reader:
    """Computes the values that statements assign to names and add to `sys.path`.

    Args:
      file: The file.
      tree: The parsed file.
    """

    def __init__(self, file: Path, tree: ast.Module) -> None:
        self._scope = Scope(tree, None, _ROOTS)
        self._values: dict[str, object] = {"__file__": str(file)}

    def read(self, statements: Iterable[ast.stmt]) -> Iterator[object]:
        """Yields the added values, in the order of the statements."""
        for statement in statements:
            if isinstance(statement, ast.Assign):
                self._assign(statement)
            elif _may_add(statement):
                yield from self._read_added(statement)

    def _assign(self, statement: ast.Assign) -> None:
        value = self._try_evaluate(statement.value)
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self._values[target.id] = value

    def _read_added(self, statement: ast.stmt) -> Iterator[object]:
        if isinstance(statement, ast.AugAssign):
            nodes = [statement.value] if self._name(statement.target) == "sys.path" else []
        else:
            assert isinstance(statement, ast.Expr)
            assert isinstance(statement.value, ast.Call)
            name = self._name(statement.value.func)
            is_search_path = name.startswith("sys.path.") or name == "site.addsitedir"
            nodes = statement.value.args[-1:] if is_search_path else []
        for node in nodes:
            values = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
            found = map(self._try_evaluate, values)
            yield from (value for value in found if isinstance(value, (str, Path)))

    def _name(self, node: ast.AST) -> str:
        """Returns the dotted name of an expression, or ""."""
        base, names = self._scope.resolve(node) or ("", [])
        if not base and isinstance(node, ast.Name):
            return node.id
        return ".".join([base, *names]) if base else ""

    def _try_evaluate(self, node: ast.AST) -> object:
        """Returns the value of an expression, or None if it cannot be computed."""
        try:
            return self._evaluate(node)
        except (AttributeError, IndexError, OSError, RuntimeError, TypeError, ValueError):
            return None

    def _evaluate(self, node: ast.AST) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._values.get(node.id)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return _CONSTANTS.get(self._name(node)) or self._get_path_attribute(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            left, right = map(self._evaluate, (node.left, node.right))
            if isinstance(node.op, ast.Add):
                return left + right  # type: ignore[operator]
            return left / right  # type: ignore[operator]
        if isinstance(node, ast.Subscript):
            return self._evaluate(node.value)[self._evaluate(node.slice)]  # type: ignore[index]
        return None

    def _get_path_attribute(self, node: ast.Attribute) -> object:
        value = self._evaluate(node.value)
        return getattr(value, node.attr) if node.attr in ("parent", "parents") else None

    def _call(self, node: ast.Call) -> object:
        arguments = [self._evaluate(argument) for argument in node.args]
        function = _FUNCTIONS.get(self._name(node.func))
        if function is None and isinstance(node.func, ast.Attribute):
            _, names = split_dotted(node.func)
            value = self._evaluate(node.func.value)
            if isinstance(value, Path) and names[-1] in _PATH_METHODS:
                function = getattr(value, names[-1])
        return function(*arguments) if function else None
