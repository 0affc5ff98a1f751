"""What the names of a source file stand for, where they are bound by imports of known modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
_OPENING = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


class Scope:
    """The names that a file, function, class or comprehension binds.

    Args:
      node: What opens the scope.
      outer: The scope around it.
      roots: The top-level modules whose names are followed.
    """

    def __init__(self, node: ast.AST, outer: Scope | None, roots: frozenset[str]) -> None:
        self._outer = outer
        self._roots = roots
        self._is_class = isinstance(node, ast.ClassDef)
        self._names: dict[str, str | None] = {}
        outside: set[str] = set()
        for inner in _within(node):
            if isinstance(inner, (ast.Global, ast.Nonlocal)):
                outside.update(inner.names)
            self._bind(inner)
        for name in outside:
            self._names.pop(name, None)

    def meaning(self, name: str) -> str | None:
        """The dotted name that a name stands for, or None."""
        scope: Scope | None = self
        while scope is not None:
            # Functions within a class do not see its names.
            if name in scope._names and (scope is self or not scope._is_class):
                return scope._names[name]
            scope = scope._outer
        return None

    def dotted(self, node: ast.AST) -> str | None:
        """The dotted name that an expression stands for, or None."""
        first, names = taken_apart(node)
        base = self.meaning(first.id) if isinstance(first, ast.Name) else None
        return ".".join([base, *names]) if base else None

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
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._set(target.id, self.dotted(node.value))
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._set(node.id, None)
        elif isinstance(node, ast.arg):
            self._set(node.arg, None)
        elif isinstance(node, _NAMED) and node.name:
            self._set(node.name, None)

    def _set(self, name: str, dotted: str | None) -> None:
        """Binds a name; where it is bound twice, as in try and except, to what is known."""
        self._names[name] = dotted or self._names.get(name)


def taken_apart(node: ast.AST) -> tuple[ast.AST, list[str]]:
    """What a dotted expression begins with, and the names after that."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return node, names


def expressions(tree: ast.Module, roots: frozenset[str]) -> Iterator[tuple[ast.Attribute, Scope]]:
    """The longest dotted expressions of a file, each with the scope that it is in.

    Args:
      tree: The file.
      roots: The top-level modules whose names the scopes follow.
    """
    return _expressions([tree], Scope(tree, None, roots), roots)


def _expressions(
    nodes: Iterable[ast.AST], scope: Scope, roots: frozenset[str]
) -> Iterator[tuple[ast.Attribute, Scope]]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node, scope
            yield from _expressions([taken_apart(node)[0]], scope, roots)
        elif isinstance(node, _OPENING):
            yield from _expressions(evaluated_outside(node), scope, roots)
            inside = Scope(node, scope, roots)
            yield from _expressions(_evaluated_inside(node), inside, roots)
        else:
            yield from _expressions(ast.iter_child_nodes(node), scope, roots)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, in their order, without those of scopes inside it."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        yield from (a for a in (arguments.vararg, arguments.kwarg) if a)
    for child in _evaluated_inside(node):
        yield from _flat(child)


def _flat(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, _OPENING):
        return
    for child in ast.iter_child_nodes(node):
        yield from _flat(child)


def _evaluated_inside(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that are evaluated in the scope that it opens."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
        return node.body
    if isinstance(node, _COMPREHENSIONS):
        first, *others = node.generators
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [*results, first.target, *first.ifs, *others]
    return ast.iter_child_nodes(node)


def evaluated_outside(node: ast.AST) -> Iterator[ast.expr]:
    """The parts that are evaluated around it: bases, defaults, what a comprehension is over."""
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
