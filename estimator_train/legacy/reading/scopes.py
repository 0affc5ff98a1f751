"""Resolves names in a source file that are bound by imports of given modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
_NEW_SCOPE = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


class Scope:
    """Names that a file, function, class or comprehension binds.

    Args:
      node: The node that opens the scope.
      outer: The enclosing scope.
      roots: The top-level modules whose names are resolved.
    """

    def __init__(self, node: ast.AST, outer: Scope | None, roots: frozenset[str]) -> None:
        self._outer = outer
        self._roots = roots
        self._is_class = isinstance(node, ast.ClassDef)
        self._names: dict[str, str | None] = {}
        not_local: set[str] = set()
        for inner in _find_nodes_in_scope(node):
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                not_local.update(inner.names)
            self._bind(inner)
        for name in not_local:
            self._names.pop(name, None)

    def resolve_name(self, name: str) -> str | None:
        """Returns the dotted name that a name is bound to, or None."""
        scope: Scope | None = self
        while scope is not None:
            # A function in a class cannot read the names of the class body.
            if name in scope._names and (scope is self or not scope._is_class):
                return scope._names[name]
            scope = scope._outer
        return None

    def resolve(self, node: ast.AST) -> tuple[str, list[str]] | None:
        """Resolves a dotted expression.

        Returns:
          The dotted name that its first name is bound to, and the names after it; None if the
          first name is unknown.
        """
        first, names = split_dotted(node)
        base = self.resolve_name(first.id) if isinstance(first, ast.Name) else None
        return (base, names) if base else None

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                bound = alias.name if alias.asname else root
                self._set(alias.asname or root, bound if root in self._roots else None)
        elif isinstance(node, ast.ImportFrom):
            known = not node.level and (node.module or "").split(".")[0] in self._roots
            for alias in node.names:
                dotted = f"{node.module}.{alias.name}" if known else None
                self._set(alias.asname or alias.name, dotted)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            base, names = self.resolve(node.value) or (None, [])
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._set(target.id, ".".join([base, *names]) if base else None)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._set(node.id, None)
        elif isinstance(node, ast.arg):
            self._set(node.arg, None)
        elif isinstance(node, _NAMED) and node.name:
            self._set(node.name, None)

    def _set(self, name: str, dotted: str | None) -> None:
        """Binds a name; a known binding wins over an unknown one, as in try and except."""
        self._names[name] = dotted or self._names.get(name)


def split_dotted(node: ast.AST) -> tuple[ast.AST, list[str]]:
    """Splits a dotted expression into its first part and the names after it."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return node, names


def find_dotted(tree: ast.Module, roots: frozenset[str]) -> Iterator[tuple[ast.Attribute, Scope]]:
    """Yields the longest dotted expressions of a file and the scope of each.

    Args:
      tree: The file.
      roots: The top-level modules whose names the scopes resolve.
    """
    return _find_dotted([tree], Scope(tree, None, roots), roots)


def _find_dotted(
    nodes: Iterable[ast.AST], scope: Scope, roots: frozenset[str]
) -> Iterator[tuple[ast.Attribute, Scope]]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node, scope
            yield from _find_dotted([split_dotted(node)[0]], scope, roots)
        elif isinstance(node, _NEW_SCOPE):
            yield from _find_dotted(find_outer_parts(node), scope, roots)
            inside = Scope(node, scope, roots)
            yield from _find_dotted(_find_inner_parts(node), inside, roots)
        else:
            yield from _find_dotted(ast.iter_child_nodes(node), scope, roots)


def _find_nodes_in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a scope in source order, without those of inner scopes."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        yield from (a for a in (arguments.vararg, arguments.kwarg) if a)
    for child in _find_inner_parts(node):
        yield from _walk_scope(child)


def _walk_scope(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, _NEW_SCOPE):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk_scope(child)


def _find_inner_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Returns the parts of a node that Python evaluates in the scope that the node opens."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
        return node.body
    if isinstance(node, _COMPREHENSIONS):
        first, *others = node.generators
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [*results, first.target, *first.ifs, *others]
    return ast.iter_child_nodes(node)


def find_outer_parts(node: ast.AST) -> Iterator[ast.expr]:
    """Yields the parts that Python evaluates in the enclosing scope, such as defaults and bases."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from node.decorator_list
    if isinstance(node, _COMPREHENSIONS):
        yield node.generators[0].iter
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        yield from arguments.defaults
        yield from (default for default in arguments.kw_defaults if default)
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        yield from (a.annotation for a in every if a.annotation)
        if not isinstance(node, ast.Lambda) and node.returns:
            yield node.returns
