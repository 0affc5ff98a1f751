"""Numbers of columns, by which Iceberg knows a column whose name has changed."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from input_fns.columns.columns import Column
from input_fns.columns.schemas import flatten_schema
from input_fns.columns.table_files import TableFile

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"PARQUET:field_id"
# pyarrow before 6 numbered the columns of each file by their order.
_NUMBERS_BY_ORDER = r"parquet-cpp(-arrow version [0-5]\.| version )"


def remove_numbers_by_order(schema: "pa.Schema", created_by: str | None) -> "pa.Schema":
    """Returns the schema of a file, without numbers of columns that its writer did not choose.

    Args:
      schema: The columns of the file.
      created_by: The writer, as the file says.
    """
    import pyarrow as pa

    if not re.match(_NUMBERS_BY_ORDER, created_by or ""):
        return schema
    return pa.schema(map(_remove_number, schema), metadata=schema.metadata)


def _remove_number(field: "pa.Field") -> "pa.Field":
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(field.type):
        field = field.with_type(pa.struct([_remove_number(part) for part in field.type]))
    return field.remove_metadata()


def check_columns(files: Sequence[TableFile], columns: Sequence[Column], row_filter: Any) -> None:
    """Checks that a name is the same column in all files.

    A table of Iceberg may rename a column and give its name to another one: then its older files
    have the old names.

    Args:
      files: The files.
      columns: The columns to read.
      row_filter: Expression of pyarrow.compute, or None.

    Raises:
      ValueError: Two files have different numbers for a column of the filter or to read.
    """
    words = set(re.findall(r"\w+", "" if row_filter is None else str(row_filter)))
    names = {column.name for column in columns}
    known: dict[str, tuple[bytes, str]] = {}
    last = None
    for file in files:
        if last is not None and file.schema.equals(last, check_metadata=True):
            continue
        last = file.schema
        for name, number in _read_numbers(file).items():
            if name not in names and name.rpartition(".")[2] not in words:
                continue
            expected, path = known.setdefault(name, (number, file.path))
            if number != expected:
                raise ValueError(
                    f"{file.path}, column {name} has the field id {number.decode()}, expected "
                    f"{expected.decode()} as in {path}: one of the files is older than a change of "
                    "names in its table, and the columns have other values. Read the table into "
                    "memory: input_fns.frame(table.scan().to_arrow()) for a table of pyiceberg."
                )


def _read_numbers(file: TableFile) -> Mapping[str, bytes]:
    numbers = {}
    for name, field in flatten_schema(file).items():
        if _KEY in (field.metadata or {}):
            numbers[name] = field.metadata[_KEY]
    return numbers
