"""The names of TensorFlow that a source file uses, and on which lines; nothing is executed."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from estimator_train.legacy.reading import import_time, scopes

ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


class Use(NamedTuple):
    """One use of a name: what it stands for, and where.

    Attributes:
      symbol: The dotted name from the root module on, as `tensorflow.train.Saver`.
      line: The line, from 1.
      at_import: Whether an import of the file comes by it for certain.
    """

    symbol: str
    line: int
    at_import: bool


class Reference(NamedTuple):
    """A dotted expression whose first name stands for something of TensorFlow.

    Attributes:
      symbol: What it stands for.
      node: The expression, as long as it is dotted.
      base: What its first name stands for.
      parts: The names after the first.
    """

    symbol: str
    node: ast.Attribute
    base: str
    parts: tuple[str, ...]


def uses(source: str | ast.Module) -> list[Use]:
    """The names of TensorFlow in a source file, in its order.

    Args:
      source: Its text, or its parsed form.

    Raises:
      SyntaxError: It is not Python 3.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    at_import = import_time.evaluated(tree)
    found = [
        Use(r.symbol, r.node.end_lineno or r.node.lineno, r.node in at_import)
        for r in references(tree)
    ]
    for node in ast.walk(tree):
        found += [Use(name, line, node in at_import) for name, line in _of_import(node)]
    return sorted(dict.fromkeys(found), key=lambda use: (use.line, use.symbol))


def references(tree: ast.Module, roots: Iterable[str] = ROOTS) -> Iterator[Reference]:
    """The dotted expressions of a file that stand for something of TensorFlow.

    Args:
      tree: The file.
      roots: The top-level modules whose names are looked for.
    """
    for node, scope in scopes.expressions(tree, frozenset(roots)):
        first, parts = scopes.taken_apart(node)
        base = scope.meaning(first.id) if isinstance(first, ast.Name) else None
        if base:
            yield Reference(".".join([base, *parts]), node, base, tuple(parts))


def local_imports(tree: ast.Module) -> set[str]:
    """The modules that a file imports, without those of TensorFlow."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found |= {module, *(f"{module}.{a.name}".strip(".") for a in node.names)}
    return {name for name in found if name and name.split(".")[0] not in ROOTS}


def _of_import(node: ast.AST) -> Iterator[tuple[str, int]]:
    """What an import takes from TensorFlow, more than to bind its name, and its line."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if "." in alias.name and alias.name.split(".")[0] in ROOTS:
                yield alias.name, node.lineno
    elif isinstance(node, ast.ImportFrom) and not node.level:
        module = node.module or ""
        for alias in node.names if module.split(".")[0] in ROOTS else ():
            yield module if alias.name == "*" else f"{module}.{alias.name}", node.lineno
