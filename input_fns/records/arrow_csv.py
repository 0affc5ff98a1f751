"""Parses texts of CSV with pyarrow, where it gives the values of `tf.io.decode_csv`."""

import importlib.util
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.records.delimited import Columns


def can_parse(columns: Columns) -> bool:
    """Returns whether pyarrow is installed and can parse files of a format."""
    csv_format = columns.csv_format
    return (
        importlib.util.find_spec("pyarrow") is not None
        and not csv_format.newlines_in_fields
        and csv_format.delimiter.isascii()
        and csv_format.delimiter not in '"\n\r'
    )


class ArrowCsvParser:
    """Parser of the lines of one table.

    Args:
      columns: The columns to read.
    """

    def __init__(self, columns: Columns) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self._columns = columns
        types = [default.dtype for default in columns.record_defaults]
        self.dtypes = [tf.as_dtype(dtype) for dtype in types]
        arrow_types = [
            pa.binary() if dtype.hasobject else pa.from_numpy_dtype(dtype) for dtype in types
        ]
        self._read = csv.ReadOptions(
            use_threads=False, column_names=columns.all_names, block_size=1 << 30
        )
        delimiter = columns.csv_format.delimiter
        self._parse, self._parse_quotes = (
            csv.ParseOptions(delimiter=delimiter, quote_char=quote, ignore_empty_lines=False)
            for quote in (False, '"')
        )
        self._convert = csv.ConvertOptions(
            check_utf8=False,
            column_types=dict(zip(columns.names, arrow_types, strict=True)),
            include_columns=columns.names,
            null_values=["", columns.csv_format.na_value],
            strings_can_be_null=True,
        )

    def explain(self, line: bytes) -> str:
        """Returns the reason why a line cannot be parsed."""
        return self._columns.explain(line)

    def decode_lines(self, lines: tf.Tensor) -> list[tf.Tensor]:
        """Returns the columns of lines by `tf.io.decode_csv`."""
        return decode_lines(self._columns, lines)

    def parse_text(self, text: bytes) -> list[np.ndarray] | None:
        """Returns the columns of the lines that are not empty, as decode_csv; None if it cannot."""
        import pyarrow as pa
        from pyarrow import csv

        csv_format = self._columns.csv_format
        has_quotes = b'"' in text
        if b"\0" in text or _may_have_hexadecimal(text):
            return None
        if has_quotes and not (csv_format.quotes and _encloses_fields(text, csv_format.delimiter)):
            return None
        # Searching two bytes would take a fifth of the time of parsing.
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        if text[:1] == b"\n" or (np.diff(ends) == 1).any():
            lines = [*filter(None, text.split(b"\n"))]
            text, count = b"\n".join(lines), len(lines)
        else:
            count = len(ends) + (text[-1:] != b"\n")
        parse = self._parse_quotes if has_quotes else self._parse
        try:
            table = csv.read_csv(pa.BufferReader(text), self._read, parse, self._convert)
        except pa.ArrowInvalid:
            return None
        if table.num_rows != count:
            return None
        pairs = zip(table.columns, self._columns.record_defaults, strict=True)
        try:
            return [_fill(column, default) for column, default in pairs]
        except LookupError:
            return None


def _may_have_hexadecimal(text: bytes) -> bool:
    """Returns whether a text contains 0x, which pyarrow reads as the start of an integer."""
    if b"x" not in text and b"X" not in text:
        return False
    characters = np.frombuffer(text, np.uint8)
    positions = np.flatnonzero((characters | 0x20) == ord("x"))
    return bool((characters[positions - 1] == ord("0")).any())


def _encloses_fields(text: bytes, delimiter: str) -> bool:
    """Returns whether each pair of quotes encloses a complete field, without doubled quotes.

    pyarrow accepts other quotes, which are errors of decode_csv.
    """
    characters = np.frombuffer(b"\n" + text + b"\n", np.uint8)
    quotes = np.flatnonzero(characters == ord('"'))
    is_end = (characters == ord(delimiter)) | (characters == ord("\n"))
    return bool(
        len(quotes) % 2 == 0 and is_end[quotes[::2] - 1].all() and is_end[quotes[1::2] + 1].all()
    )


def _fill(column: Any, default: np.ndarray) -> np.ndarray:
    """Returns the values of a column.

    Raises:
      LookupError: One is missing, and there is no default.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if array.null_count:
        if not default.size:
            raise LookupError
        value = default[0]
        value = value.encode() if isinstance(value, str) else value
        array = pc.fill_null(array, pa.scalar(value, array.type))
    return array.to_numpy(zero_copy_only=False)


def decode_lines(columns: Columns, lines: tf.Tensor) -> list[tf.Tensor]:
    """Returns the columns of lines by `tf.io.decode_csv`."""
    csv_format = columns.csv_format
    return tf.io.decode_csv(
        lines,
        columns.record_defaults,
        csv_format.delimiter,
        csv_format.quotes,
        csv_format.na_value,
        columns.selection,
    )
