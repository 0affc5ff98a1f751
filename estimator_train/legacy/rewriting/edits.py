"""Edits a source text at the positions of its nodes in the syntax tree."""

import ast
from typing import NamedTuple


class Edit(NamedTuple):
    """Replacement of the bytes from start to end by text."""

    start: int
    end: int
    text: str


class Source:
    """Source file and its edits.

    Args:
      source: The content of the file.

    Raises:
      SyntaxError: The source is not Python 3.
    """

    def __init__(self, source: bytes) -> None:
        self.tree = ast.parse(source)
        self._source = source.removeprefix(b"\xef\xbb\xbf")
        self._starts = [0]
        for line in self._source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[Edit] = []

    def replace(self, node: ast.AST, text: str) -> None:
        """Replaces an expression or statement by a text."""
        self._edits.append(Edit(*self._find_span(node), text))

    def insert_before(self, node: ast.stmt, text: str) -> None:
        """Inserts lines before a statement and its decorators."""
        line = min(n.lineno for n in [node, *getattr(node, "decorator_list", [])])
        self._edits.append(Edit(self._starts[line - 1], self._starts[line - 1], text))

    def insert_after(self, node: ast.expr, text: str) -> None:
        """Inserts a text after an expression."""
        end = self._find_span(node)[1]
        self._edits.append(Edit(end, end, text))

    def text(self, node: ast.AST) -> str:
        """Returns the original text of an expression or statement."""
        start, end = self._find_span(node)
        return self._source[start:end].decode()

    def indent(self, node: ast.stmt) -> str | None:
        """Returns the indentation of a statement; None if other code is on its lines."""
        start, end = self._find_span(node)
        before = self._source[self._starts[node.lineno - 1] : start].decode()
        after = self._source[end : self._starts[(node.end_lineno or node.lineno)]].decode()
        is_alone = not before.strip() and (not after.strip() or after.lstrip().startswith("#"))
        return before if is_alone else None

    def apply_edits(self) -> bytes:
        """Returns the source with all edits."""
        parts, position = [], 0
        for edit in sorted(self._edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self._source[position : edit.start], edit.text.encode()]
            position = edit.end
        return b"".join([*parts, self._source[position:]])

    def _find_span(self, node: ast.AST) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end
