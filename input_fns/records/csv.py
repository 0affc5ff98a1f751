"""CSV files, decoded a batch at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions
from input_fns.records import delimited
from input_fns.records.stream import (
    BUFFER,
    Blocks,
    Stream,
    list_files,
    numbered_blocks,
    without_empty,
)


def csv(
    file_pattern: Any,
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
    """Gives the rows of CSV files in batches.

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      label: Column that is the label; None gives features alone.
      header: Whether each file begins with a line of column names.
      columns: Names of the columns, all of them; needed without a header.
      types: Column name to tf.float32, tf.float64, tf.int32, tf.int64 or tf.string. Other columns
        get tf.int64, tf.float32 or tf.string by the first rows of the first file.
      defaults: Column name to the value of an empty field. A column whose type is given and which
        has no default must not be empty; others get 0 or ''.
      select: Columns to read; None reads all.
      vocabularies: Column name to its words: it gives their numbers from 0 on, as tf.int64, and
        the number of words for any other; the label must be one of its words.
      buckets: Column name to boundaries in rising order: it gives the number of boundaries that a
        value reaches, as tf.int64.
      delimiter: What stands between fields, one character.
      quotes: Whether fields may stand in double quotes.
      na_value: Another text for an empty field.
      newlines_in_fields: Whether quoted fields may go over several lines, which is slower.
      **settings: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of dicts of features, or of (features, label), each of shape
      (batch_size,). A row that does not fit ends the iteration with a
      `tf.errors.InvalidArgumentError` that names file and record, or is left out.

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is empty, headers differ, a column is not there, or an argument is out
        of its range.
    """
    options = PipelineOptions.of(settings)
    files = list_files(file_pattern)
    layout = delimited.Layout(delimiter, quotes, na_value, newlines_in_fields)
    names = delimited.names_of(files, layout, header, columns)
    if header:
        delimited.check_rows(files)
    vocabularies = vocabularies or {}
    table = delimited.Table.of(
        files[0], layout, names, header, types or {}, defaults or {}, select, label, vocabularies
    )
    into_numbers = delimited.numberings(table, vocabularies, buckets or {})

    def parse(lines: tf.Tensor) -> Any:
        values = tf.io.decode_csv(
            lines, table.record_defaults, delimiter, quotes, na_value, table.selection
        )
        features = dict(zip(table.names, values, strict=True))
        for name, number in into_numbers.items():
            features[name] = number(features[name])
        for name, words in table.classes.items():
            features[name] = _known(features[name], len(words))
        return features if label is None else (features, features.pop(label))

    bad = BadRecords(options)
    stream = Stream(files, _lines(header, newlines_in_fields), options, bad)
    return stream.parsed(parse, table.explain, can_be_cut=True)


def _known(numbers: tf.Tensor, count: int) -> tf.Tensor:
    with tf.control_dependencies([tf.debugging.assert_less(numbers, tf.constant(count, tf.int64))]):
        return tf.identity(numbers)


def _lines(header: bool, newlines_in_fields: bool) -> Blocks:
    def read(_: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        lines = tf.data.TextLineDataset(file, buffer_size=BUFFER)
        if newlines_in_fields:
            lines = _joined(lines)
        return numbered_blocks(lines.skip(1) if header else lines).map(without_empty)

    return read


def _joined(lines: tf.data.Dataset) -> tf.data.Dataset:
    """Joins a line that ends within quotes with those after it."""

    def join(begun: tf.Tensor, line: tf.Tensor) -> Any:
        record = tf.where(tf.equal(begun, ""), line, begun + "\n" + line)
        other = tf.strings.length(tf.strings.regex_replace(record, '"', ""))
        is_whole = tf.equal((tf.strings.length(record) - other) % 2, 0)
        return tf.where(is_whole, "", record), (record, is_whole)

    records = lines.scan(tf.constant(""), join)
    return records.filter(lambda _, is_whole: is_whole).map(lambda record, _: record)
