"""Finds the parts of a source file that Python executes at each import of the file."""

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from estimator_train.legacy.reading.scopes import find_outer_parts

# Errors that a program catches where a module or name is missing in some versions.
_MISSING_NAME_ERRORS = frozenset(
    ["ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"]
)


def find_import_time_nodes(tree: ast.Module) -> set[ast.AST]:
    """Returns the nodes that Python evaluates at each import and whose errors end the import.

    Bodies of functions, branches, and try blocks that catch a missing name are left out.
    """
    return set(_walk(tree.body))


def is_guarded(path: str, line: int) -> bool:
    """Returns whether a line of a source file is in a try block that catches a missing name."""
    return any(line in lines for lines in _find_guarded_lines(path))


@functools.cache
def _find_guarded_lines(path: str) -> list[range]:
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    guards = (node for node in ast.walk(tree) if isinstance(node, ast.Try))
    return [
        range(guard.body[0].lineno, (guard.body[-1].end_lineno or 0) + 1)
        for guard in guards
        if _catches_missing_names(guard)
    ]


def _walk(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        yield from _walk(_find_certain_parts(node))


def _find_certain_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Returns the parts that Python always evaluates when it evaluates the node."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return find_outer_parts(node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.Try):
        certain = [] if _catches_missing_names(node) else [*node.body, *node.orelse]
        return [*certain, *node.finalbody]
    return ast.iter_child_nodes(node)


def _catches_missing_names(node: ast.Try) -> bool:
    caught = [h.type for h in node.handlers if not isinstance(h.body[-1], ast.Raise)]
    errors = [e for kind in caught for e in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return any(
        error is None or getattr(error, "attr", getattr(error, "id", None)) in _MISSING_NAME_ERRORS
        for error in errors
    )
