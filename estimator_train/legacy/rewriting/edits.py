"""Changes of a source text by the places of its syntax tree."""

import ast
from typing import NamedTuple


class Edit(NamedTuple):
    """One change: the bytes from start to end become text."""

    start: int
    end: int
    text: str


class Source:
    """A source file and the changes to it.

    Args:
      source: The file as it is.

    Raises:
      SyntaxError: It is not Python 3.
    """

    def __init__(self, source: bytes) -> None:
        self.tree = ast.parse(source)
        self._source = source.removeprefix(b"\xef\xbb\xbf")
        self._starts = [0]
        for line in self._source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[Edit] = []

    def replace(self, node: ast.AST, text: str) -> None:
        """Puts a text in the place of an expression or statement."""
        self._edits.append(Edit(*self._span(node), text))

    def insert_before(self, node: ast.stmt, text: str) -> None:
        """Puts lines before the line of a statement, its decorators included."""
        line = min(n.lineno for n in [node, *getattr(node, "decorator_list", [])])
        self._edits.append(Edit(self._starts[line - 1], self._starts[line - 1], text))

    def insert_after(self, node: ast.expr, text: str) -> None:
        """Puts a text behind an expression."""
        end = self._span(node)[1]
        self._edits.append(Edit(end, end, text))

    def text(self, node: ast.AST) -> str:
        """The text of an expression or statement as it is."""
        start, end = self._span(node)
        return self._source[start:end].decode()

    def indent(self, node: ast.stmt) -> str | None:
        """The white space before a statement; None if other code is on its lines."""
        start, end = self._span(node)
        before = self._source[self._starts[node.lineno - 1] : start].decode()
        after = self._source[end : self._starts[(node.end_lineno or node.lineno)]].decode()
        alone = not before.strip() and (not after.strip() or after.lstrip().startswith("#"))
        return before if alone else None

    def edited(self) -> bytes:
        """The source with all changes made."""
        parts, position = [], 0
        for edit in sorted(self._edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self._source[position : edit.start], edit.text.encode()]
            position = edit.end
        return b"".join([*parts, self._source[position:]])

    def _span(self, node: ast.AST) -> tuple[int, int]:
        place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        line, column, end_line, end_column = place
        return self._starts[line - 1] + column, self._starts[end_line - 1] + end_column
