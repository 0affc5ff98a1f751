"""What of a source file is evaluated whenever it is imported."""

import ast
from collections.abc import Iterable, Iterator

from estimator_train.legacy.reading.scopes import evaluated_outside

# What a try around an import or a name of another version catches.
_FORGIVING = frozenset(
    ["ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"]
)


def evaluated(tree: ast.Module) -> set[ast.AST]:
    """The nodes of a file that Python evaluates at its import, and whose errors end that.

    Left out is what may not be reached or may fail: bodies of functions, branches, and what is
    tried and has a way out.
    """
    return set(_nodes(tree.body))


def _nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        yield from _nodes(_parts(node))


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that are evaluated for certain once it is."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return evaluated_outside(node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.Try):
        return node.finalbody if _forgives(node) else [*node.body, *node.orelse, *node.finalbody]
    return ast.iter_child_nodes(node)


def _forgives(node: ast.Try) -> bool:
    caught = [h.type for h in node.handlers if not isinstance(h.body[-1], ast.Raise)]
    kinds = [k for kind in caught for k in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return any(
        kind is None or getattr(kind, "attr", getattr(kind, "id", None)) in _FORGIVING
        for kind in kinds
    )
