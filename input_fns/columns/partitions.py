"""Columns that the names of folders contain, such as `day=20`: the partitions of Hive and Spark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from input_fns.columns.table_files import TableFile

if TYPE_CHECKING:
    import pyarrow as pa

_MISSING = "__HIVE_DEFAULT_PARTITION__"


class _PartitionedFile:
    """File with further columns, each of one value.

    Args:
      file: The file.
      values: Maps names of columns to their values.
    """

    def __init__(self, file: TableFile, values: "Mapping[str, pa.Scalar]") -> None:
        self.path, self.group_rows, self.row_bytes = file.path, file.group_rows, file.row_bytes
        self._file = file
        self._values = {n: value for n, value in values.items() if n not in file.schema.names}
        self.schema = file.schema
        for name, value in self._values.items():
            import pyarrow as pa

            self.schema = self.schema.append(pa.field(name, value.type))

    def iterate(
        self, group: int, columns: Sequence[str], batch_rows: int
    ) -> "Iterator[pa.RecordBatch]":
        """Yields the record batches of a row group, with the values of the folders."""
        import pyarrow as pa

        # A column of structs has the names of its fields, such as a.b.
        owners = {name: self._find_owner(name) for name in columns}
        own = {owner: None for owner in owners.values() if owner is not None}
        # Without a column, the number of rows of a batch would be unknown.
        others = [name for name, owner in owners.items() if owner is None]
        others = others or self._file.schema.names[:1]
        for batch in self._file.iterate(group, others, batch_rows):
            names, arrays = [*batch.schema.names], [*batch.columns]
            for name in own:
                names.append(name)
                arrays.append(_repeat(self._values[name], batch.num_rows))
            yield pa.RecordBatch.from_arrays(arrays, names)

    def _find_owner(self, name: str) -> str | None:
        """Returns which of the further columns has a name, itself or for a field."""
        return next((own for own in self._values if f"{name}.".startswith(f"{own}.")), None)


def _repeat(value: "pa.Scalar", count: int) -> "pa.Array":
    import pyarrow as pa

    # pyarrow repeats no missing dictionary.
    return pa.repeat(value, count) if value.is_valid else pa.nulls(count, value.type)


def add_missing_columns(file: TableFile, missing: "Mapping[str, pa.DataType]") -> TableFile:
    """Adds columns without values to a file.

    Args:
      file: The file.
      missing: Maps the names of the columns to their types.
    """
    import pyarrow as pa

    return _PartitionedFile(file, {name: pa.scalar(None, kind) for name, kind in missing.items()})


def read_partitions(
    paths: Sequence[str], texts: "Sequence[Mapping[str, str | pa.Scalar]]"
) -> "dict[str, dict[str, pa.Scalar]]":
    """Returns the values in the names of the folders of each file, by its path and their columns.

    They are of int64 if all values of the column are integers.

    Args:
      paths: The files.
      texts: For each file, the texts in the names of its folders, or values that have a type.

    Raises:
      ValueError: Files have different columns in the names of their folders.
    """
    import pyarrow as pa

    first = texts[0]
    for path, found in zip(paths, texts, strict=True):
        if found.keys() != first.keys():
            raise ValueError(
                f"The folders of {path} have the columns {[*found]}, expected {[*first]} as those "
                f"of {paths[0]}."
            )
    types = {}
    for name in first:
        values = {found[name] for found in texts if isinstance(found[name], str)} - {_MISSING}
        types[name] = pa.int64() if values and all(map(_is_integer, values)) else pa.string()

    def convert(name: str, text: "str | pa.Scalar") -> "pa.Scalar":
        if not isinstance(text, str):
            return text
        value = None if text == _MISSING else int(text) if types[name] == pa.int64() else text
        return pa.scalar(value, types[name])

    return {
        path: {name: convert(name, text) for name, text in found.items()}
        for path, found in zip(paths, texts, strict=True)
    }


def add_partitions(
    files: Sequence[TableFile], partitions: "Mapping[str, Mapping[str, pa.Scalar]]"
) -> list[TableFile]:
    """Adds the columns that the names of folders contain.

    Args:
      files: The files.
      partitions: The result of `read_partitions`.
    """
    return [
        _PartitionedFile(file, partitions[file.path]) if partitions[file.path] else file
        for file in files
    ]


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and abs(int(text)) < 1 << 63
