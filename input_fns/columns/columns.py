"""The columns of a table that become tensors, and the conversion of their rows."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from input_fns.columns.arrow_types import Layout, MissingValueError, find_layout, to_arrays

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnError(ValueError):
    """Error of the values of a column.

    Args:
      name: Name of the column.
      reason: What is wrong, and what to do.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"column {name} {reason}")
        self.name = name


@dataclasses.dataclass(frozen=True)
class ColumnSettings:
    """Settings of columns; `input_fns.parquet` has arguments of the same names."""

    select: Sequence[str] | None = None
    types: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    vocabularies: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    ids: Collection[str] = ()
    padding: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Column:
    """A column that becomes a tensor.

    Attributes:
      name: Its name; the field b of a struct a has the name a.b.
      layout: The dtype and shape of its rows.
      cast: The Arrow type to which values are cast first; None keeps their type.
      default: Replaces missing values; None makes them an error.
      is_ids: Whether values of a dictionary become their numbers in it.
      vocabulary: The values that become their indices; None keeps values.
      is_class: Whether a value must be in the vocabulary.
      padding: Value that fills lists to the longest of the batch; None keeps them ragged.
    """

    name: str
    layout: Layout
    cast: "pa.DataType | None" = None
    default: Any = None
    is_ids: bool = False
    vocabulary: "pa.Array | None" = None
    is_class: bool = False
    padding: Any = None

    def to_arrays(self, array: "pa.Array") -> list[np.ndarray]:
        """Returns the arrays of the layout.

        Raises:
          ColumnError: A value is missing, or does not fit the type.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            if self.vocabulary is not None:
                return self._number_words(array)
            if self.cast is not None:
                array = pc.cast(array, self.cast)
            return to_arrays(array, self.default)
        except MissingValueError:
            raise ColumnError(self.name, "has no value; give one for it in defaults") from None
        except pa.ArrowInvalid as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ColumnError(
                self.name, f"cannot become {self.layout.dtype.name}: {reason}"
            ) from error

    def _number_words(self, array: "pa.Array") -> list[np.ndarray]:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import types

        if types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count:
            if self.default is None:
                raise MissingValueError
            array = pc.fill_null(array, pa.scalar(self.default, array.type))
        assert self.vocabulary is not None
        numbers = pc.index_in(array, self.vocabulary.cast(array.type))
        if self.is_class and numbers.null_count:
            word = array.filter(numbers.is_null())[0]
            raise ColumnError(self.name, f"has the label {word}, which is not in its vocabulary")
        return [pc.fill_null(numbers, len(self.vocabulary)).cast(pa.int64()).to_numpy()]

    def find_bad_rows(self, array: "pa.Array", first: int = 0) -> "Iterator[tuple[int, str]]":
        """Yields the row number of each value that has no tensor, and the reason.

        Args:
          array: The values.
          first: Row number of the first value.
        """
        try:
            self.to_arrays(array)
        except ColumnError as error:
            if len(array) == 1:
                yield first, str(error)
            else:
                half = len(array) // 2
                yield from self.find_bad_rows(array[:half], first)
                yield from self.find_bad_rows(array[half:], first + half)

    def make_empty(self) -> list[np.ndarray]:
        """Returns the arrays of no rows."""
        splits = [np.zeros(1, np.int64)] * self.layout.ragged_rank
        dtype = self.layout.dtype.as_numpy_dtype
        return [*splits, np.zeros([0, *self.layout.inner_shape], dtype)]

    def slice_rows(self, tensors: Sequence[tf.Tensor], start: tf.Tensor, stop: tf.Tensor) -> Any:
        """Returns the tensor of some rows; the arguments are the tensors of a block."""
        *splits, values = tensors
        if not splits:
            return values[start:stop]
        ragged = tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        rows = ragged[start:stop]
        return rows if self.padding is None else rows.to_tensor(self.padding)


def make_columns(
    file: str, schema: "pa.Schema", settings: ColumnSettings, labels: Sequence[str]
) -> list[Column]:
    """Returns the columns to read, in the order of the schema.

    Args:
      file: The file with the schema, for errors.
      schema: The columns of the file.
      settings: The settings.
      labels: Names of the label columns.

    Raises:
      ValueError: A column does not exist, or two have the same name.
      TypeError: A type has no tensor.
    """
    fields = {}
    for field in flatten_schema(schema):
        if field.name in fields:
            raise ValueError(f"{file} has two columns with the name {field.name!r}.")
        fields[field.name] = field
    _check_names(file, fields, settings, labels)
    selected = [*(fields if settings.select is None else settings.select), *labels]
    if not selected:
        raise ValueError(f"select must name at least one of the columns {', '.join(fields)}.")
    return [
        _make_column(file, field, settings, labels)
        for name, field in fields.items()
        if name in selected
    ]


def flatten_schema(schema: "pa.Schema") -> "list[pa.Field]":
    """Returns the fields of a schema; those of a struct get names with a dot."""
    from pyarrow import types

    found = []
    for field in schema:
        if types.is_struct(field.type):
            found += flatten_schema(field.flatten())
        else:
            found.append(field)
    return found


def _check_names(
    file: str, fields: Mapping[str, Any], settings: ColumnSettings, labels: Sequence[str]
) -> None:
    used = {
        "label": labels,
        "select": settings.select or (),
        "types": settings.types,
        "defaults": settings.defaults,
        "ids": settings.ids,
        "vocabularies": settings.vocabularies,
        "padding": settings.padding,
    }
    for argument, names in used.items():
        for name in names:
            if name not in fields:
                raise ValueError(
                    f"{argument}: {file} has no column {name!r}: its columns are "
                    f"{', '.join(fields)}."
                )


def _make_column(
    file: str, field: "pa.Field", settings: ColumnSettings, labels: Sequence[str]
) -> Column:
    import pyarrow as pa

    name = field.name
    cast = None
    if name in settings.types:
        dtype = tf.as_dtype(settings.types[name])
        cast = (
            pa.large_binary() if dtype == tf.string else pa.from_numpy_dtype(dtype.as_numpy_dtype)
        )
    try:
        layout = find_layout(field.type if cast is None else cast)
    except TypeError as error:
        raise TypeError(f"{file}, column {name} of type {field.type}: {error}.") from None
    vocabulary = None
    if name in settings.vocabularies:
        vocabulary = pa.array(list(settings.vocabularies[name]))
    is_ids = name in settings.ids
    if is_ids and not pa.types.is_dictionary(field.type):
        raise TypeError(
            f"ids: {file}, column {name} has type {field.type}, expected a dictionary; use "
            "vocabularies for other types."
        )
    if is_ids or vocabulary is not None:
        layout = Layout(tf.int64)
    if name in settings.padding and not layout.ragged_rank:
        raise TypeError(f"padding: {file}, column {name} has type {field.type}, expected a list.")
    return Column(
        name,
        layout,
        cast,
        settings.defaults.get(name),
        is_ids,
        vocabulary,
        name in labels,
        settings.padding.get(name),
    )


def check_schemas(files: Sequence[Any], columns: Sequence[Column]) -> None:
    """Checks that the columns of all files have the types of the first.

    Raises:
      ValueError: They differ; the error names file and column.
    """
    expected = {field.name: field.type for field in flatten_schema(files[0].schema)}
    checked = {id(files[0].schema)}
    for file in files:
        if id(file.schema) in checked or file.schema.equals(files[0].schema):
            continue
        actual = {field.name: field.type for field in flatten_schema(file.schema)}
        for column in columns:
            if column.name not in actual:
                raise ValueError(
                    f"{file.path} has no column {column.name!r}, which {files[0].path} has."
                )
            if actual[column.name] != expected[column.name]:
                raise ValueError(
                    f"{file.path}, column {column.name} has type {actual[column.name]}, expected "
                    f"{expected[column.name]} as in {files[0].path}."
                )
