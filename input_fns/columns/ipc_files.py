"""Files of Arrow's IPC format, with an index or as a stream."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from input_fns.columns.table_files import open_file

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"ARROW1"  # The first bytes of a file with an index.
_GROUP_ROWS = 1 << 16


class IpcFile:
    """File of record batches.

    A row group is consecutive record batches of at least 65,536 rows together; a stream is one row
    group, since it can only be read from its start.

    Args:
      path: Its path or URL.
    """

    def __init__(self, path: str) -> None:
        import pyarrow as pa

        self.path = path
        with open_file(path) as file:
            self._is_stream = file.read(len(_MAGIC)) != _MAGIC
        with open_file(path) as file:
            if self._is_stream:
                reader = pa.ipc.open_stream(file)
                self.schema = reader.schema
                first = next(iter(reader), None)
            else:
                reader = pa.ipc.open_file(file)
                self.schema = reader.schema
                first = reader.get_batch(0) if reader.num_record_batches else None
        self.row_bytes = first.nbytes / max(1, first.num_rows) if first is not None else 1.0
        self._groups: list[range] = []
        self.group_rows: list[int] = []
        self._count_rows()

    def _count_rows(self) -> None:
        """Finds the row groups: reads one column of all record batches."""
        start = rows = stop = 0
        for batch in self._read([0], None):
            rows, stop = rows + batch.num_rows, stop + 1
            if rows >= _GROUP_ROWS and not self._is_stream:
                self._groups.append(range(start, stop))
                self.group_rows.append(rows)
                start, rows = stop, 0
        self._groups.append(range(start, stop))
        self.group_rows.append(rows)

    def iterate(
        self, group: int, columns: Sequence[str], batch_rows: int
    ) -> "Iterator[pa.RecordBatch]":
        """Returns an iterator over the record batches of a row group, in the sizes of the file."""
        del batch_rows
        fields = [
            number
            for number, name in enumerate(self.schema.names)
            if any(column == name or column.startswith(f"{name}.") for column in columns)
        ]
        return self._read(fields, self._groups[group])

    def _read(self, fields: Sequence[int], batches: range | None) -> "Iterator[pa.RecordBatch]":
        """Yields the fields of record batches; None means all batches."""
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(included_fields=list(fields))
        with open_file(self.path) as file:
            if self._is_stream:
                found = iter(pa.ipc.open_stream(file, options=options))
            else:
                reader = pa.ipc.open_file(file, options=options)
                numbers = range(reader.num_record_batches) if batches is None else batches
                found = map(reader.get_batch, numbers)
            for batch in found:
                batch.validate()  # A damaged file could otherwise read outside of its memory.
                yield batch
