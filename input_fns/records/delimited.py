"""The columns of CSV files: names, types, defaults, and messages about rows that do not match."""

import csv
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.records.stream import BYTE_ORDER_MARK, find_compression

_INFERENCE_ROWS = 100  # Rows from which the types of columns are inferred.
_TYPES = (tf.float32, tf.float64, tf.int32, tf.int64, tf.string)


@dataclasses.dataclass(frozen=True)
class CsvFormat:
    """Format of a CSV file; `input_fns.csv` has arguments of the same names."""

    delimiter: str
    quotes: bool
    na_value: str
    newlines_in_fields: bool

    def __post_init__(self) -> None:
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, but got {self.delimiter!r}.")

    def read_rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Returns an iterator over the rows in lines of text."""
        if self.quotes:
            return csv.reader(lines, delimiter=self.delimiter, strict=True)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)

    def read_first_rows(self, file: str, count: int) -> list[list[str]]:
        """Returns at most `count` first rows of a file, and stops at an unreadable row.

        Raises:
          ValueError: The first row cannot be read.
        """
        rows: list[list[str]] = []
        try:
            with tf.io.gfile.GFile(file, "rb") as opened:
                first = opened.readline().decode().removeprefix(BYTE_ORDER_MARK)
                # Texts of any encoding can be read, but names of columns are UTF-8.
                others = (line.decode(errors="replace") for line in opened)
                lines = itertools.chain([first], others)
                for row in itertools.islice(self.read_rows(lines), count):
                    rows.append(row)
        except (csv.Error, UnicodeDecodeError) as error:
            if not rows:
                advice = describe_compression(file) or str(error)
                raise ValueError(f"{file} cannot be read as CSV: {advice}.") from error
        return [row for row in rows if row]


def describe_compression(file: str) -> str | None:
    """Returns what to do with a compressed file or one in UTF-16; None for any other."""
    found = find_compression(file)
    if found is not None:
        return f"it is compressed ({found}). Decompress it, or write it as Parquet"
    with tf.io.gfile.GFile(file, "rb") as opened:
        is_utf_16 = opened.read(2) in (b"\xff\xfe", b"\xfe\xff")
    return "it is UTF-16. Convert it to UTF-8, for example with iconv" if is_utf_16 else None


def find_first_with_rows(files: Sequence[str]) -> str:
    """Returns the first file with a row after its header.

    Raises:
      ValueError: All files contain only a header.
    """
    for file in files:
        with tf.io.gfile.GFile(file, "rb") as lines:
            if len(list(itertools.islice(filter(bytes.strip, lines), 2))) > 1:
                return file
    others = "" if len(files) == 1 else f", and neither do the {len(files) - 1} other files"
    raise ValueError(f"{files[0]} has a header but no rows{others}.")


def read_column_names(
    files: Sequence[str], csv_format: CsvFormat, header: bool, columns: Sequence[str] | None
) -> list[str]:
    """Returns the names of all columns.

    Raises:
      ValueError: There are no columns, two have the same name, or the headers of files differ.
    """
    if not header and columns is None:
        raise ValueError("columns must list the column names if the files have no header.")
    headers = (
        {file: (csv_format.read_first_rows(file, 1) or [[]])[0] for file in files} if header else {}
    )
    names = list(columns) if columns is not None else headers[files[0]]
    source = "columns" if columns is not None else f"The header of {files[0]}"
    if not names:
        raise ValueError(f"{source} must name at least one column, but it is empty.")
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"{source} must have unique names, but {duplicates} appear repeatedly.")
    for file, actual in headers.items():
        if actual != names:
            raise ValueError(
                f"{file} begins with the columns {', '.join(actual)}, expected {', '.join(names)}."
            )
    return names


def estimate_row_bytes(file: str) -> float:
    """Returns the mean size of the first lines of a file."""
    with tf.io.gfile.GFile(file, "rb") as opened:
        lines = [len(line) for line in itertools.islice(opened, _INFERENCE_ROWS)]
    return sum(lines) / len(lines)


@dataclasses.dataclass(frozen=True)
class Columns:
    """Names, types and defaults of the columns to read.

    Attributes:
      csv_format: Format of the files.
      all_names: Names of all columns of the files.
      names: Names of the columns to read, in the order of the files.
      record_defaults: For each column to read, an array with its default value; the array is empty
        if the column has no default.
      classes: Maps the name of the label column to its allowed words, if it has a vocabulary.
    """

    csv_format: CsvFormat
    all_names: list[str]
    names: list[str]
    record_defaults: list[np.ndarray]
    classes: dict[str, Sequence[str]]

    @classmethod
    def infer(
        cls,
        file: str,
        csv_format: CsvFormat,
        names: list[str],
        header: bool,
        types: Mapping[str, Any],
        defaults: Mapping[str, Any],
        select: Sequence[str] | None,
        label: str | None,
        vocabularies: Mapping[str, Sequence[str]],
    ) -> "Columns":
        """Infers types and defaults; `input_fns.csv` has arguments of the same names.

        Raises:
          ValueError: A column does not exist, or a CSV file cannot hold its type.
        """
        selected = [*(names if select is None else select), *([label] if label else [])]
        for name in (*selected, *types, *defaults):
            if name not in names:
                raise ValueError(
                    f"There is no column {name!r}: the columns are {', '.join(names)}."
                )
        read_names = [name for name in names if name in selected]
        rows = csv_format.read_first_rows(file, _INFERENCE_ROWS + 1)[1 if header else 0 :]
        inferred = {
            name: _infer_type(
                row[index]
                for row in rows
                if len(row) == len(names) and row[index] not in ("", csv_format.na_value)
            )
            for index, name in enumerate(names)
        }
        record_defaults = []
        for name in read_names:
            dtype = tf.as_dtype(types.get(name, inferred[name]))
            if dtype not in _TYPES:
                raise ValueError(
                    f"Column {name!r} cannot have type {dtype.name}: supported types are "
                    f"{', '.join(known.name for known in _TYPES)}."
                )
            empty = "" if dtype == tf.string else 0
            must_be_filled = name in types and name not in defaults
            values = (
                [] if must_be_filled else [_check_default(name, defaults.get(name, empty), dtype)]
            )
            record_defaults.append(np.array(values, dtype.as_numpy_dtype))
        classes = {name: words for name, words in vocabularies.items() if name == label}
        return cls(csv_format, names, read_names, record_defaults, classes)

    @property
    def selection(self) -> list[int] | None:
        """Indices of the columns to read; None reads all, and checks the number of fields."""
        return None if self.names == self.all_names else self.indices

    @property
    def indices(self) -> list[int]:
        """Indices of the columns to read."""
        return [self.all_names.index(name) for name in self.names]

    def explain(self, line: bytes) -> str:
        """Returns the reason why a row cannot be decoded."""
        try:
            fields = next(self.csv_format.read_rows([line.decode()]), [])
        except (csv.Error, UnicodeDecodeError) as error:
            advice = ""
            if not self.csv_format.newlines_in_fields:
                advice = "; if the row continues on the next line, set newlines_in_fields=True"
            return f"is not a CSV row: {error}{advice}"
        if len(fields) != len(self.all_names):
            return f"has {len(fields)} fields, expected {len(self.all_names)}"
        columns = zip(self.names, self.indices, self.record_defaults, strict=True)
        for name, index, default in columns:
            dtype, field = tf.as_dtype(default.dtype), fields[index]
            is_empty = field in ("", self.csv_format.na_value)
            if is_empty and not default.size:
                return f"has an empty field in column {name}, which has no default"
            if not is_empty and dtype != tf.string and not _can_read_as(field, dtype):
                return (
                    f"has {field} in column {name}, which has type {dtype.name}; change the field, "
                    "or give another type in types"
                )
            word = str(default[0]) if is_empty else field
            if word not in self.classes.get(name, [word]):
                known = ", ".join(self.classes[name])
                return f"has {f'the label {word}' if word else 'no label'}, expected one of {known}"
        if self.csv_format.quotes and b'"' in line:
            return "has a quote within a field; double it within quotes, or set quotes=False"
        return "cannot be decoded as CSV"


def _check_default(name: str, value: Any, dtype: tf.DType) -> Any:
    """Returns a default.

    Raises:
      ValueError: The column cannot hold it.
    """
    if dtype == tf.string:
        is_valid = isinstance(value, (str, bytes))
    else:
        try:
            is_valid = not isinstance(value, (str, bytes)) and (
                dtype.is_floating or dtype.as_numpy_dtype(value) == value
            )
        except (TypeError, ValueError, OverflowError):
            is_valid = False
    if not is_valid:
        raise ValueError(
            f"defaults: column {name!r} has type {dtype.name}, but its default is {value!r}. "
            "Change it, or give the type of the column in types."
        )
    return value


def _infer_type(fields: Iterable[str]) -> tf.DType:
    """Returns the type of a column by its fields that are not empty."""
    filled = list(fields)
    if filled and all(map(_is_integer, filled)):
        # As floats, different ids beyond int64 (unsigned hashes) would become equal.
        return tf.int64 if all(_can_read_as(field, tf.int64) for field in filled) else tf.string
    is_number = filled and all(_can_read_as(field, tf.float32) for field in filled)
    return tf.float32 if is_number else tf.string


def _is_integer(field: str) -> bool:
    try:
        int(field)
    except ValueError:
        return False
    return _has_plain_digits(field)


def _has_plain_digits(field: str) -> bool:
    """Returns whether TensorFlow, too, reads the digits of a number as Python does."""
    return "_" not in field and field.isascii()


def _can_read_as(field: str, dtype: tf.DType) -> bool:
    if not _has_plain_digits(field):
        return False
    try:
        if dtype.is_floating:
            float(field)
            return True
        return dtype.min <= int(field) <= dtype.max
    except ValueError:
        return False


def make_number_functions(
    table: Columns,
    vocabularies: Mapping[str, Sequence[str]],
    buckets: Mapping[str, Sequence[float]],
) -> dict[str, Callable[[tf.Tensor], tf.Tensor]]:
    """Returns, by column name, the functions that turn words or values into numbers.

    Raises:
      ValueError: A column is not selected or has the wrong type, or boundaries do not increase.
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
            expected = "strings for a vocabulary" if name in vocabularies else "numbers for buckets"
            raise ValueError(
                f"Column {name!r} has type {dtypes[name].name}, but it needs {expected}."
            )
    for name, boundaries in buckets.items():
        if not boundaries or list(boundaries) != sorted(set(boundaries)):
            raise ValueError(f"Buckets of {name!r} must increase, but are {list(boundaries)}.")
    return {
        **{name: _make_word_lookup(words) for name, words in vocabularies.items()},
        **{name: _make_bucket_search(boundaries) for name, boundaries in buckets.items()},
    }


def _make_word_lookup(words: Sequence[str]) -> Callable[[tf.Tensor], tf.Tensor]:
    keys = tf.constant(list(words), tf.string)
    numbers = tf.range(len(words), dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, numbers)
    return tf.lookup.StaticHashTable(initializer, len(words)).lookup


def _make_bucket_search(boundaries: Sequence[float]) -> Callable[[tf.Tensor], tf.Tensor]:
    limits = tf.constant(list(boundaries), tf.float64)
    return lambda values: tf.searchsorted(
        limits, tf.cast(values, tf.float64), side="right", out_type=tf.int64
    )
