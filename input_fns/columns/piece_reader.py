"""Reads pieces of row groups, and continues where the last piece ended."""

import collections
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from input_fns.columns.arrow_types import replace_views
from input_fns.columns.columns import Column, ColumnError
from input_fns.columns.row_order import Piece
from input_fns.columns.table_files import TableFile, describe_error, find_advice

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_CURSORS = 2  # Two iterators of a dataset may read in turns.


class DamagedFileError(ValueError):
    """Error of a row group that cannot be read.

    Attributes:
      is_new: Whether this is the first error of the row group.
    """

    is_new = True


class PieceReader:
    """Reader of the pieces of files.

    Args:
      files: The files.
      columns: The columns to read.
      types: The types of the columns that have another one in some files.
      batch_rows: Maximum number of rows to decode at a time.
      is_cached: Whether row groups stay in memory after their first use.
    """

    def __init__(
        self,
        files: Sequence[TableFile],
        columns: Sequence[Column],
        types: "Mapping[str, pa.DataType]",
        batch_rows: int,
        is_cached: bool,
    ) -> None:
        self.files = files
        self._names = [column.name for column in columns]
        self._ids = [column.name for column in columns if column.is_ids]
        self._types = types
        self._batch_rows = batch_rows
        self._cached: dict[tuple[int, int], pa.Table] | None = {} if is_cached else None
        self._cursors: collections.OrderedDict[tuple[int, int, int], _Cursor]
        self._cursors = collections.OrderedDict()
        self._damaged: set[tuple[int, int]] = set()
        self._dictionaries = {name: self._read_first_dictionary(name) for name in self._ids}

    def read(self, piece: Piece) -> "pa.Table":
        """Returns the rows of a piece; fast if it follows the last one of its row group.

        Raises:
          DamagedFileError: The row group cannot be read.
        """
        if self._cached is None:
            return self._read_rows(piece)
        key = (piece.file, piece.group)
        if key not in self._cached:
            rows = self.files[piece.file].group_rows[piece.group]
            self._cached[key] = self._read_rows(Piece(*key, 0, rows)).combine_chunks()
        return self._cached[key].slice(piece.start, piece.stop - piece.start)

    def make_empty(self) -> "pa.Table":
        """Returns a table without rows."""
        return self._select(self.files[0].schema.empty_table())

    def _read_rows(self, piece: Piece) -> "pa.Table":
        import pyarrow as pa

        file, key = self.files[piece.file], (piece.file, piece.group)
        cursor = self._cursors.pop((*key, piece.start), None)
        try:
            if cursor is None:
                cursor = _Cursor(file, piece.group, self._names, self._batch_rows)
            batches = cursor.read(piece.start, piece.stop)
            table = self._select(pa.Table.from_batches(batches))
        except (OSError, ValueError, StopIteration) as error:
            damage = DamagedFileError(
                f"{describe_place(file.path, piece.group)}{self._explain(error, file, piece.group)}"
            )
            damage.is_new = key not in self._damaged
            self._damaged.add(key)
            raise damage from error
        if piece.stop < file.group_rows[piece.group]:
            self._cursors[(*key, piece.stop)] = cursor
            while len(self._cursors) > _MAX_CURSORS:
                self._cursors.popitem(last=False)
        return table

    def _explain(self, error: Exception, file: TableFile, group: int) -> str:
        """Returns the column that cannot be read, and the reason."""
        if isinstance(error, ColumnError):
            return f": {error}"
        column = ""
        for name in self._names:
            try:
                collections.deque(file.iterate(group, [name], self._batch_rows), maxlen=0)
            except (OSError, ValueError):
                column = f", column {name}"
                break
        reason = describe_error(error)
        return f"{column}: cannot be read: {reason}; {find_advice(reason)}"

    def _select(self, table: "pa.Table") -> "pa.Table":
        """Returns the columns of the reader, with numbers for the columns that are ids."""
        from pyarrow import types

        while any(types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
        for name in self._ids:
            numbers = self._find_numbers(name, table[name])
            table = table.set_column(table.schema.get_field_index(name), name, numbers)
        table = table.select(self._names)
        for place, field in enumerate(table.schema):
            plain = replace_views(self._types.get(field.name, field.type))
            if plain != field.type:
                values = self._cast(field.name, table[place], plain)
                table = table.set_column(place, field.name, values)
        return table

    def _cast(
        self, name: str, column: "pa.ChunkedArray", arrow_type: "pa.DataType"
    ) -> "pa.ChunkedArray":
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            return pc.cast(column, arrow_type)
        except pa.ArrowInvalid as error:
            raise ColumnError(
                name, f"cannot become {arrow_type}: {describe_error(error)}"
            ) from error

    def _find_numbers(self, name: str, column: "pa.ChunkedArray") -> "pa.ChunkedArray":
        import pyarrow as pa

        expected = self._dictionaries[name]
        for chunk in column.chunks:
            actual = chunk.dictionary
            if not actual.equals(expected):
                raise ColumnError(
                    name,
                    f"has a dictionary of {len(actual)} values that differs from that of "
                    f"{len(expected)} in {self.files[0].path}: use vocabularies instead of ids",
                )
        numbers = [chunk.indices.cast(pa.int64()) for chunk in column.chunks]
        return pa.chunked_array(numbers, pa.int64())

    def _read_first_dictionary(self, name: str) -> "pa.Array":
        import pyarrow as pa
        from pyarrow import types

        file = next(file for file in self.files if any(file.group_rows))
        group = next(number for number, rows in enumerate(file.group_rows) if rows)
        table = pa.Table.from_batches([next(file.iterate(group, [name], self._batch_rows))])
        while any(types.is_struct(field.type) for field in table.schema):
            table = table.flatten()
        return table[name].chunk(0).dictionary


class _Cursor:
    """Position in a row group, which moves forward."""

    def __init__(
        self, file: TableFile, group: int, columns: Sequence[str], batch_rows: int
    ) -> None:
        self._batches = file.iterate(group, columns, batch_rows)
        self._row = 0
        self._rest: pa.RecordBatch | None = None

    def read(self, start: int, stop: int) -> "list[pa.RecordBatch]":
        """Returns the rows from `start` to `stop`."""
        found = []
        while self._row < stop:
            batch = next(self._batches) if self._rest is None else self._rest
            end = min(self._row + batch.num_rows, stop)
            if end > start:
                found.append(batch.slice(max(start - self._row, 0), end - max(start, self._row)))
            rest = batch.slice(end - self._row)
            self._rest = rest if rest.num_rows else None
            self._row = end
        return found


def describe_place(path: str, group: int) -> str:
    """Returns the name of a row group in messages."""
    return f"{path}, row group {group}"
