"""Batches of the rows of CSV files."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions
from input_fns.records import delimited
from input_fns.records.arrow_csv import ArrowCsvParser, can_parse, decode_lines
from input_fns.records.stream import (
    BUFFER,
    Blocks,
    FilePattern,
    Stream,
    clean_lines,
    list_files,
    number_records,
)
from input_fns.records.text_blocks import TextBlockStream

# Starting the blocks of a smaller file takes longer than parsing its lines.
_MIN_BLOCKS_BYTES = 1 << 18


def csv(
    file_pattern: FilePattern,
    label: str | None = None,
    *,
    header: bool = True,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    select: Sequence[str] | None = None,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    buckets: Mapping[str, Sequence[float]] | None = None,
    delimiter: str = ",",
    quotes: bool = True,
    na_value: str = "",
    newlines_in_fields: bool = False,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the rows of CSV files.

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      label: Name of the label column; None gives features without labels.
      header: Whether each file begins with a line of column names.
      columns: Names of all columns; required if the files have no header.
      types: Maps column names to tf.float32, tf.float64, tf.int32, tf.int64 or tf.string. The type
        of other columns (tf.int64, tf.float32 or tf.string) is inferred from the first rows of the
        first file with rows. Integers beyond tf.int64 are tf.string.
      defaults: Maps column names to the value of an empty field. An empty field in a column with a
        given type but no default is an error; in other columns it is 0 or ''.
      select: Columns to read; None reads all.
      vocabularies: Maps column names to lists of words. Such a column becomes the index of the
        word, tf.int64 from 0, or the number of words for an unknown word. An unknown label is an
        error.
      buckets: Maps column names to increasing boundaries. Such a column becomes the number of
        boundaries that are less than or equal to the value, tf.int64.
      delimiter: Character between fields.
      quotes: Whether double quotes may enclose fields.
      na_value: A second text, after the empty one, that means an empty field.
      newlines_in_fields: Whether quoted fields may contain newlines, which is slower.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts of features, or of (features, label), each of shape
      (batch_size,). For a row that does not match the columns, the iteration raises a
      `tf.errors.InvalidArgumentError` that names file and line (with `newlines_in_fields` the
      record), or skips the row.

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is empty, headers differ, a column does not exist, or an argument is out
        of range.
    """
    options = PipelineOptions.from_arguments(settings)
    files = list_files(file_pattern)
    csv_format = delimited.CsvFormat(delimiter, quotes, na_value, newlines_in_fields)
    names = delimited.read_column_names(files, csv_format, header, columns)
    first = delimited.find_first_with_rows(files) if header else files[0]
    vocabularies = vocabularies or {}
    read_columns = delimited.Columns.infer(
        first,
        csv_format,
        names,
        header,
        types or {},
        defaults or {},
        select,
        label,
        vocabularies,
    )
    number_functions = delimited.make_number_functions(read_columns, vocabularies, buckets or {})

    def make_batch(values: list[tf.Tensor]) -> Any:
        features = dict(zip(read_columns.names, values, strict=True))
        for name, to_numbers in number_functions.items():
            features[name] = to_numbers(features[name])
        for name, words in read_columns.classes.items():
            features[name] = _check_known(features[name], len(words))
        return features if label is None else (features, features.pop(label))

    bad = BadRecords(options)
    mean_bytes = sum(tf.io.gfile.stat(file).length for file in files) / len(files)
    if can_parse(read_columns) and mean_bytes >= _MIN_BLOCKS_BYTES:
        parser, row_bytes = ArrowCsvParser(read_columns), delimited.estimate_row_bytes(first)
        return TextBlockStream(files, parser, header, row_bytes, bad).parse_columns(make_batch)

    def parse(lines: tf.Tensor) -> Any:
        return make_batch(decode_lines(read_columns, lines))

    read = _make_line_reader(header, newlines_in_fields)
    first_line = None if newlines_in_fields else 2 if header else 1
    stream = Stream(files, read, bad, first_line)
    return stream.parse_batches(parse, read_columns.explain, is_divisible=True)


def _check_known(numbers: tf.Tensor, count: int) -> tf.Tensor:
    """Returns the label numbers, and fails if one is the number of an unknown word."""
    with tf.control_dependencies([tf.debugging.assert_less(numbers, tf.constant(count, tf.int64))]):
        return tf.identity(numbers)


def _make_line_reader(header: bool, newlines_in_fields: bool) -> Blocks:
    def read(_: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        lines = tf.data.TextLineDataset(file, buffer_size=BUFFER)
        if newlines_in_fields:
            lines = _join_quoted_lines(lines)
        return number_records(lines.skip(1) if header else lines).map(clean_lines)

    return read


def _join_quoted_lines(lines: tf.data.Dataset) -> tf.data.Dataset:
    """Joins each line that ends within quotes with the lines after it.

    If quotes are still open at the end of the file, the last record is incomplete, and parsing it
    fails.
    """

    def join(begun: tf.Tensor, element: tuple[tf.Tensor, tf.Tensor]) -> Any:
        line, is_end = element
        record = tf.where(tf.equal(begun, ""), line, begun + "\n" + line)
        length_without_quotes = tf.strings.length(tf.strings.regex_replace(record, '"', ""))
        num_quotes = tf.strings.length(record) - length_without_quotes
        is_complete = tf.equal(num_quotes % 2, 0) | is_end
        return tf.where(is_complete, "", record), (record, is_complete)

    end = tf.data.Dataset.from_tensors(("", True))
    lines = lines.map(lambda line: (line, False)).concatenate(end)
    records = lines.scan(tf.constant(""), join)
    return records.filter(lambda _, is_complete: is_complete).map(lambda record, _: record)
