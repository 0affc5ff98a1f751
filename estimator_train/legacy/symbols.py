"""The names of TensorFlow that a source file uses, and on which lines; nothing is executed."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

ROOTS = ("tensorflow", "tensorflow_estimator")


class Use(NamedTuple):
    """One use of a name: what it stands for, and where.

    Attributes:
      symbol: The dotted name from the root module on, as `tensorflow.train.Saver`.
      line: The line, from 1.
    """

    symbol: str
    line: int


def uses(source: str | ast.Module) -> list[Use]:
    """The names of TensorFlow in a source file, in its order.

    Args:
      source: Its text, or its parsed form.

    Raises:
      SyntaxError: It is not Python 3.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    aliases: dict[str, str] = {}
    found: list[Use] = []
    for node in ast.walk(tree):
        found += _of_import(node, aliases)
    _add_assigned(tree, aliases)
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            dotted = _dotted(node, aliases)
            if isinstance(node, ast.Attribute):
                inner.update(id(part) for part in _chain(node))
            if dotted and isinstance(node, ast.Attribute):
                found.append(Use(dotted, node.end_lineno or node.lineno))
    return sorted(dict.fromkeys(found), key=lambda use: (use.line, use.symbol))


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


def _of_import(node: ast.AST, aliases: dict[str, str]) -> Iterator[Use]:
    """Notes what an import binds; what it takes from TensorFlow is a use already."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] in ROOTS:
                bound = alias.asname or alias.name.split(".")[0]
                aliases[bound] = alias.name if alias.asname else bound
                if "." in alias.name:
                    yield Use(alias.name, node.lineno)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        known = (node.module or "").split(".")[0] in ROOTS
        for alias in node.names if known else ():
            if alias.name != "*":
                dotted = f"{node.module}.{alias.name}"
                aliases[alias.asname or alias.name] = dotted
                yield Use(dotted, node.lineno)


def _add_assigned(tree: ast.Module, aliases: dict[str, str]) -> None:
    """Follows `slim = tf.contrib.slim` at the top of a file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            dotted = _dotted(node.value, aliases)
            for target in node.targets:
                if dotted and isinstance(target, ast.Name):
                    aliases[target.id] = dotted


def _chain(node: ast.AST) -> Iterator[ast.AST]:
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in aliases:
        return None
    return ".".join([aliases[node.id], *reversed(parts)])
