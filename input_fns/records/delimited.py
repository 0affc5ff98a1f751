"""The columns of CSV files: their names, types and defaults, and what is wrong with a row."""

import csv
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_LOOKED_AT = 100  # Rows from which the types of columns are inferred.
_TYPES = (tf.float32, tf.float64, tf.int32, tf.int64, tf.string)


@dataclasses.dataclass(frozen=True)
class Layout:
    """How fields stand in a file; the arguments of `input_fns.csv` by the same names."""

    delimiter: str
    quotes: bool
    na_value: str
    newlines_in_fields: bool

    def __post_init__(self) -> None:
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, but got {self.delimiter!r}.")

    def rows(self, lines: Any) -> Iterator[list[str]]:
        """Returns an iterator over the rows of lines."""
        if self.quotes:
            return csv.reader(lines, delimiter=self.delimiter, strict=True)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)

    def first_rows(self, file: str, count: int) -> list[list[str]]:
        """Returns the first rows of a file, at most `count`, up to one that is wrong.

        Raises:
          ValueError: Even the first cannot be read.
        """
        rows: list[list[str]] = []
        try:
            with tf.io.gfile.GFile(file) as lines:
                for row in itertools.islice(self.rows(iter(lines)), count):
                    rows.append(row)
        except (csv.Error, UnicodeDecodeError) as error:
            if not rows:
                raise ValueError(f"{file} cannot be read as CSV: {error}.") from error
        return [row for row in rows if row]


def names_of(
    files: Sequence[str], layout: Layout, header: bool, columns: Sequence[str] | None
) -> list[str]:
    """Returns the names of all columns.

    Raises:
      ValueError: There are no columns, a name comes twice, or files disagree.
    """
    if not header and columns is None:
        raise ValueError("columns must name the columns of files without a header.")
    headers = {file: (layout.first_rows(file, 1) or [[]])[0] for file in files} if header else {}
    names = list(columns) if columns is not None else headers[files[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        place = "" if columns is not None else f"{files[0]}: "
        raise ValueError(f"{place}Columns need different names, but {twice or 'there are none'}.")
    for file, found in headers.items():
        if found != names:
            raise ValueError(
                f"{file} begins with the columns {', '.join(found)}, expected {', '.join(names)}."
            )
    return names


def check_rows(files: Sequence[str]) -> None:
    """Checks that a file has more than its header.

    Raises:
      ValueError: None has.
    """
    for file in files:
        with tf.io.gfile.GFile(file, "rb") as lines:
            if len(list(itertools.islice(filter(bytes.strip, lines), 2))) > 1:
                return
    raise ValueError(f"{files[0]} has column names and no row{_and_more(files)}.")


def _and_more(files: Sequence[str]) -> str:
    return "" if len(files) == 1 else f", nor have the {len(files) - 1} other files"


@dataclasses.dataclass(frozen=True)
class Table:
    """The columns that are read.

    Attributes:
      layout: How fields stand in a file.
      all_names: Names of all columns of the files.
      names: Names of those that are read, in the order of the files.
      record_defaults: For each of them an array with its default; without a value if it has none.
      classes: The label's name to the words that it can have.
    """

    layout: Layout
    all_names: list[str]
    names: list[str]
    record_defaults: list[np.ndarray]
    classes: dict[str, Sequence[str]]

    @classmethod
    def of(
        cls,
        file: str,
        layout: Layout,
        names: list[str],
        header: bool,
        types: Mapping[str, Any],
        defaults: Mapping[str, Any],
        select: Sequence[str] | None,
        label: str | None,
        vocabularies: Mapping[str, Sequence[str]],
    ) -> "Table":
        """Finds types and defaults; the arguments are those of `input_fns.csv`.

        Raises:
          ValueError: A column does not exist, or a CSV file cannot hold its type.
        """
        wanted = [*(names if select is None else select), *([label] if label else [])]
        for name in (*wanted, *types, *defaults):
            if name not in names:
                raise ValueError(
                    f"There is no column {name!r}: the columns are {', '.join(names)}."
                )
        read = [name for name in names if name in wanted]
        rows = layout.first_rows(file, _LOOKED_AT + 1)[1 if header else 0 :]
        found = {
            name: _type_of(row[place] for row in rows if len(row) == len(names))
            for place, name in enumerate(names)
        }
        record_defaults = []
        for name in read:
            dtype = tf.as_dtype(types.get(name, found[name]))
            if dtype not in _TYPES:
                raise ValueError(
                    f"Column {name!r} cannot be of {dtype.name}: types are "
                    f"{', '.join(known.name for known in _TYPES)}."
                )
            empty = "" if dtype == tf.string else 0
            must_be_filled = name in types and name not in defaults
            values = [] if must_be_filled else [defaults.get(name, empty)]
            record_defaults.append(np.array(values, dtype.as_numpy_dtype))
        classes = {name: words for name, words in vocabularies.items() if name == label}
        return cls(layout, names, read, record_defaults, classes)

    @property
    def selection(self) -> list[int] | None:
        """Numbers of the columns that are read; None for all, since rows are then counted too."""
        return None if self.names == self.all_names else self.places

    @property
    def places(self) -> list[int]:
        """Numbers of the columns that are read."""
        return [self.all_names.index(name) for name in self.names]

    def explain(self, line: bytes) -> bytes:
        """Returns what is wrong with a row that cannot be decoded."""
        return self._reason(line).encode()

    def _reason(self, line: bytes) -> str:
        try:
            fields = next(self.layout.rows([line.decode()]), [])
        except (csv.Error, UnicodeDecodeError) as error:
            way_out = "; if it goes on in the next line, give newlines_in_fields=True"
            return f"is not a CSV row: {error}{'' if self.layout.newlines_in_fields else way_out}"
        if len(fields) != len(self.all_names):
            return f"has {len(fields)} fields, expected {len(self.all_names)}"
        for name, place, default in zip(self.names, self.places, self.record_defaults, strict=True):
            dtype, field = tf.as_dtype(default.dtype), fields[place]
            is_empty = field in ("", self.layout.na_value)
            if is_empty and not default.size:
                return f"has nothing in column {name}, which has no default"
            if not is_empty and dtype != tf.string and not _reads_as(field, dtype):
                return f"has {field} in column {name}, which is of {dtype.name}"
            word = str(default[0]) if is_empty else field
            if word not in self.classes.get(name, [word]):
                known = ", ".join(self.classes[name])
                return f"has {f'the label {word}' if word else 'no label'}, expected one of {known}"
        return "cannot be decoded as CSV"


def _type_of(fields: Any) -> tf.DType:
    filled = [field for field in fields if field]
    for dtype in (tf.int64, tf.float32):
        if filled and all(_reads_as(field, dtype) for field in filled):
            return dtype
    return tf.string


def _reads_as(field: str, dtype: tf.DType) -> bool:
    try:
        if dtype.is_floating:
            float(field)
            return True
        return dtype.min <= int(field) <= dtype.max
    except ValueError:
        return False


def numberings(
    table: Table,
    vocabularies: Mapping[str, Sequence[str]],
    buckets: Mapping[str, Sequence[float]],
) -> dict[str, Callable[[tf.Tensor], tf.Tensor]]:
    """Returns column name to function from its values to numbers.

    Raises:
      ValueError: A column is not read or of another kind, or boundaries do not increase.
    """
    dtypes = {
        name: tf.as_dtype(default.dtype)
        for name, default in zip(table.names, table.record_defaults, strict=True)
    }
    for name in (*vocabularies, *buckets):
        if name not in dtypes:
            raise ValueError(
                f"There is no column {name!r}: the selected columns are {', '.join(table.names)}."
            )
        if (dtypes[name] == tf.string) != (name in vocabularies):
            kind = "strings for a vocabulary" if name in vocabularies else "numbers for buckets"
            raise ValueError(f"Column {name!r} is of {dtypes[name].name}; it needs {kind}.")
    for name, boundaries in buckets.items():
        if not boundaries or list(boundaries) != sorted(set(boundaries)):
            raise ValueError(f"Buckets of {name!r} must increase, but are {list(boundaries)}.")
    numbered = {name: _word_numbers(words) for name, words in vocabularies.items()}
    return {**numbered, **{name: _bucket_numbers(limits) for name, limits in buckets.items()}}


def _word_numbers(words: Sequence[str]) -> Callable[[tf.Tensor], tf.Tensor]:
    keys = tf.constant(list(words), tf.string)
    numbers = tf.range(len(words), dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, numbers)
    return tf.lookup.StaticHashTable(initializer, len(words)).lookup


def _bucket_numbers(boundaries: Sequence[float]) -> Callable[[tf.Tensor], tf.Tensor]:
    limits = tf.constant(list(boundaries), tf.float64)
    return lambda values: tf.searchsorted(
        limits, tf.cast(values, tf.float64), side="right", out_type=tf.int64
    )
