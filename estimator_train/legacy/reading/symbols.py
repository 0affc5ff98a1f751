"""Finds the names of TensorFlow that a source file uses, and their lines."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from estimator_train.legacy.reading import import_time, scopes

ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


class Use(NamedTuple):
    """One use of a name of TensorFlow.

    Attributes:
      symbol: The complete dotted name, such as `tensorflow.train.Saver`.
      line: The line, from 1.
      at_import: Whether every import of the file evaluates it.
      is_bound: Whether a `from` statement binds it here.
    """

    symbol: str
    line: int
    at_import: bool
    is_bound: bool = False


class Reference(NamedTuple):
    """Dotted expression that refers to TensorFlow.

    Attributes:
      symbol: The complete dotted name that the expression refers to.
      node: The longest dotted expression.
      base: The dotted name that its first name is bound to.
      parts: The names after the first.
    """

    symbol: str
    node: ast.Attribute
    base: str
    parts: tuple[str, ...]


def find_uses(source: str | ast.Module) -> list[Use]:
    """Returns the uses of names of TensorFlow in a source file, sorted by line.

    Args:
      source: The text, or the parsed file.

    Raises:
      SyntaxError: The text is not Python 3.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    at_import = import_time.find_import_time_nodes(tree)
    found = [
        Use(r.symbol, r.node.end_lineno or r.node.lineno, r.node in at_import)
        for r in find_references(tree)
    ]
    for node in ast.walk(tree):
        is_bound = isinstance(node, ast.ImportFrom)
        found += [
            Use(name, line, node in at_import, is_bound) for name, line in _find_imported(node)
        ]
    return sorted(dict.fromkeys(found), key=lambda use: (use.line, use.symbol))


def find_references(tree: ast.Module, roots: Iterable[str] = ROOTS) -> Iterator[Reference]:
    """Yields the dotted expressions of a file that refer to TensorFlow.

    Args:
      tree: The file.
      roots: The top-level modules whose names are found.
    """
    for node, scope in scopes.find_dotted(tree, frozenset(roots)):
        resolved = scope.resolve(node)
        if resolved:
            base, parts = resolved
            yield Reference(".".join([base, *parts]), node, base, tuple(parts))


def find_first_use_at_import(tree: ast.Module, symbol: str) -> int:
    """Returns the first line at which every import of a file uses an imported name; 0: none.

    Args:
      tree: The file.
      symbol: The complete dotted name, which an import statement binds.
    """
    module, _, attribute = symbol.rpartition(".")
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == module
    ]
    aliases = (alias for statement in statements for alias in statement.names)
    names = {alias.asname or alias.name for alias in aliases if alias.name == attribute}
    lines = [
        node.lineno
        for node in import_time.find_import_time_nodes(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
    ]
    return min(lines, default=0)


def find_local_imports(tree: ast.Module) -> set[str]:
    """Returns the modules that a file imports, except those of TensorFlow."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {module, *(f"{module}.{a.name}".strip(".") for a in node.names)}
    return {name for name in found if name and name.split(".")[0] not in ROOTS}


def _find_imported(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yields the names below a root of TensorFlow that a statement imports, with its line."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if "." in alias.name and alias.name.split(".")[0] in ROOTS:
                yield alias.name, node.lineno
    elif isinstance(node, ast.ImportFrom) and not node.level:
        module = node.module or ""
        for alias in node.names if module.split(".")[0] in ROOTS else ():
            yield module if alias.name == "*" else f"{module}.{alias.name}", node.lineno
