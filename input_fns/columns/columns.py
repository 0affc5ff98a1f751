"""The columns of a table that become tensors, and the conversion of their rows."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from input_fns.columns.arrow_types import (
    Layout,
    MissingValueError,
    cast_values,
    find_layout,
    replace_values,
    replace_views,
    to_arrays,
)

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
    row_filter: Any = None


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

        try:
            if self.vocabulary is not None:
                return to_arrays(array, self.default, self._number_words)
            if self.cast is not None:
                array = cast_values(array, self.cast)
            return to_arrays(array, self.default)
        except MissingValueError:
            raise ColumnError(self.name, "has no value; give one for it in defaults") from None
        except pa.ArrowInvalid as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ColumnError(
                self.name, f"cannot become {self.layout.dtype.name}: {reason}"
            ) from error

    def _number_words(self, array: "pa.Array", default: Any) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if array.null_count:
            array = pc.fill_null(array, pa.scalar(default, array.type))
        assert self.vocabulary is not None
        numbers = pc.index_in(array, self.vocabulary.cast(array.type))
        if self.is_class and numbers.null_count:
            word = array.filter(numbers.is_null())[0]
            raise ColumnError(self.name, f"has the label {word}, which is not in its vocabulary")
        return pc.fill_null(numbers, len(self.vocabulary)).cast(pa.int64()).to_numpy()

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
    file: str, fields: "Mapping[str, pa.Field]", settings: ColumnSettings, labels: Sequence[str]
) -> list[Column]:
    """Returns the columns to read, in the order of the fields.

    Args:
      file: The file with the fields, for errors.
      fields: The fields of the file by their names, from `flatten_schema`.
      settings: The settings.
      labels: Names of the label columns.

    Raises:
      ValueError: A column does not exist.
      TypeError: A type has no tensor.
    """
    _check_names(file, fields, settings, labels)
    selected = [*(fields if settings.select is None else settings.select), *labels]
    if not selected:
        raise ValueError(f"select must name at least one of the columns {', '.join(fields)}.")
    return [
        _make_column(file, field, settings, labels)
        for name, field in fields.items()
        if name in selected
    ]


def _check_names(
    file: str, fields: Mapping[str, Any], settings: ColumnSettings, labels: Sequence[str]
) -> None:
    for argument in ("select", "ids"):
        if isinstance(getattr(settings, argument), str):
            names = getattr(settings, argument)
            raise TypeError(
                f"{argument} must be a list of names, but got {names!r}: use [{names!r}]."
            )
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

    name, cast, vocabulary = field.name, None, None
    try:
        if name in settings.types:
            cast = replace_values(field.type, tf.as_dtype(settings.types[name]))
        layout = find_layout(field.type if cast is None else cast)
        if name in settings.vocabularies:
            vocabulary = pa.array(list(settings.vocabularies[name]))
    except (TypeError, pa.ArrowInvalid) as error:
        raise TypeError(f"{file}, column {name} of type {field.type}: {error}.") from None
    is_ids = name in settings.ids
    if is_ids and not pa.types.is_dictionary(field.type):
        raise TypeError(
            f"ids: {file}, column {name} has type {field.type}, expected a dictionary; use "
            "vocabularies for other types."
        )
    if is_ids or vocabulary is not None:
        layout = Layout(tf.int64) if is_ids else dataclasses.replace(layout, dtype=tf.int64)
    if name in settings.padding and not layout.ragged_rank:
        raise TypeError(f"padding: {file}, column {name} has type {field.type}, expected a list.")
    column = Column(
        name,
        layout,
        cast,
        settings.defaults.get(name),
        is_ids,
        vocabulary,
        name in labels,
        settings.padding.get(name),
    )
    _try_settings(file, pa.int64() if is_ids else replace_views(field.type), column)
    return column


def _try_settings(file: str, arrow_type: "pa.DataType", column: Column) -> None:
    """Converts no row and a missing value, so that wrong settings are errors of the first call.

    Raises:
      TypeError: The values of the column cannot have the type or the vocabulary of the settings.
      ValueError: The default or the padding is not a value of the column.
    """
    import pyarrow as pa

    place = f"{file}, column {column.name} of type {arrow_type}"
    dtype = column.layout.dtype
    try:
        column.to_arrays(pa.nulls(0, arrow_type))
    except (ColumnError, pa.ArrowException) as error:
        argument = "types" if column.vocabulary is None else "vocabularies"
        raise TypeError(f"{argument}: {place}: {str(error).splitlines()[0]}.") from error
    if column.padding is not None:
        try:
            tf.make_tensor_proto(column.padding, dtype, [])
        except (TypeError, ValueError):
            raise ValueError(f"padding: {place}: {column.padding!r} is no {dtype.name}.") from None
    if column.default is None:
        return
    try:
        missing = pa.nulls(1, arrow_type)
        value = dataclasses.replace(column, is_class=False).to_arrays(missing)[-1]
    except (TypeError, ValueError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"defaults: {place}, default {column.default!r}: {reason}.") from error
    is_number = dtype.is_integer and column.vocabulary is None
    if is_number and value.size and value.flat[0] != column.default:
        raise ValueError(
            f"defaults: {place} has no value {column.default!r}; the nearest is {value.flat[0]}."
        )
