"""The columns of several files of a table, whose types and names may differ a little."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from input_fns.columns.arrow_types import get_storage_type
from input_fns.columns.columns import Column
from input_fns.columns.partitions import add_missing_columns
from input_fns.columns.table_files import TableFile

if TYPE_CHECKING:
    import pyarrow as pa

    Fields = dict[str, pa.Field]


def flatten_schema(file: TableFile) -> "Fields":
    """Returns the fields of a file by their names; those of a struct get names with a dot.

    Raises:
      ValueError: Two have the same name.
    """
    from pyarrow import types

    fields: Fields = {}
    found = [*file.schema]
    while found:
        field = found.pop(0)
        if types.is_struct(field.type):
            found = [*field.flatten(), *found]
        elif field.name in fields:
            raise ValueError(f"{file.path} has two columns with the name {field.name!r}.")
        else:
            fields[field.name] = field
    return fields


def fill_missing_columns(
    files: Sequence[TableFile], defaults: Collection[str]
) -> "tuple[list[TableFile], list[Fields]]":
    """Adds the columns of the first file that others lack, without values.

    Args:
      files: The files.
      defaults: Names of the columns that have a default: only these may lack.

    Returns:
      The files, and the fields of each.
    """
    first = flatten_schema(files[0])
    filled, fields = [], []
    for file in files:
        own = first if file.schema.equals(files[0].schema) else flatten_schema(file)
        missing = {
            field.name: field.type
            for field in files[0].schema
            if _can_lack(field.name, first, own, defaults)
        }
        if missing:
            file = add_missing_columns(file, missing)
            own = flatten_schema(file)
        filled.append(file)
        fields.append(own)
    return filled, fields


def _can_lack(name: str, first: "Fields", own: "Fields", defaults: Collection[str]) -> bool:
    """Returns whether a file lacks a column, also one of structs, whose values have defaults."""
    leaves = [leaf for leaf in first if leaf == name or leaf.startswith(f"{name}.")]
    return bool(leaves) and all(leaf in defaults and leaf not in own for leaf in leaves)


def replace_null_types(fields: "Sequence[Fields]") -> "Fields":
    """Returns the fields of the first file; a column without values has the type of another."""
    from pyarrow import types

    first = dict(fields[0])
    for name, field in first.items():
        if types.is_null(field.type):
            found = [other[name].type for other in fields if name in other]
            known = [found_type for found_type in found if not types.is_null(found_type)]
            first[name] = field.with_type(_simplify(known[0]) if known else field.type)
    return first


def find_common_types(
    files: Sequence[TableFile],
    fields: "Sequence[Fields]",
    first: "Fields",
    columns: Sequence[Column],
) -> "dict[str, pa.DataType]":
    """Returns the types of the columns that have several, in which each file's values are the same.

    Args:
      files: The files.
      fields: The fields of each.
      first: The fields of the first, from `replace_null_types`.
      columns: The columns to read.

    Raises:
      ValueError: A file lacks a column, or has values of another kind; the error names file and
        column.
    """
    common: dict[str, pa.DataType] = {}
    checked = {id(fields[0])} if first == fields[0] else set()
    for file, own in zip(files, fields, strict=True):
        if id(own) in checked:
            continue
        checked.add(id(own))
        for column in columns:
            name = column.name
            if name not in own:
                raise ValueError(
                    f"{file.path} has no column {name!r}, which {files[0].path} has. Give its "
                    "value in defaults, or leave the column out with select."
                )
            expected = common.get(name, first[name].type)
            if own[name].type != expected:
                common[name] = _unify(file, files[0], column, own[name].type, expected)
    return common


def _unify(
    file: TableFile,
    first: TableFile,
    column: Column,
    actual: "pa.DataType",
    expected: "pa.DataType",
) -> "pa.DataType":
    import pyarrow as pa
    from pyarrow import types

    plain = [_simplify(found) for found in (actual, expected)]
    if not column.is_ids:
        if types.is_null(actual) or plain[0] == plain[1]:
            return plain[1]
        if column.cast is not None and all(map(_is_number, plain)):
            both = [pa.schema([("x", found)]) for found in plain]
            return pa.unify_schemas(both, promote_options="permissive").field("x").type
    advice = "write the files again with one type"
    if all(map(_is_number, plain)):
        advice = "give its type in types"
    raise ValueError(
        f"{file.path}, column {column.name} has type {actual}, expected {expected} as in "
        f"{first.path}: {advice}."
    )


def _is_number(arrow_type: "pa.DataType") -> bool:
    from pyarrow import types

    return bool(types.is_integer(arrow_type) or types.is_floating(arrow_type))


def _simplify(arrow_type: "pa.DataType") -> "pa.DataType":
    """Returns a type of the same values, without dictionaries, views and small offsets."""
    import pyarrow as pa
    from pyarrow import types

    arrow_type = get_storage_type(arrow_type)
    if types.is_dictionary(arrow_type):
        return _simplify(arrow_type.value_type)
    if types.is_fixed_size_list(arrow_type):
        return pa.list_(_simplify(arrow_type.value_type), arrow_type.list_size)
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        return pa.large_list(_simplify(arrow_type.value_type))
    if str(arrow_type) in ("string", "string_view"):
        return pa.large_string()
    return pa.large_binary() if str(arrow_type) in ("binary", "binary_view") else arrow_type
