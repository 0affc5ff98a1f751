"""Batches of the rows of Parquet files."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import tensorflow as tf

from input_fns.columns.columns import ColumnSettings
from input_fns.columns.parquet_files import ParquetFile
from input_fns.columns.partitions import read_partitions
from input_fns.columns.pipeline import read_table_files
from input_fns.columns.table_files import FilePattern, import_pyarrow, list_table_files
from input_fns.pipeline.options import PipelineOptions


def parquet(
    file_pattern: FilePattern,
    label: str | Sequence[str] | None = None,
    *,
    select: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    vocabularies: Mapping[str, Sequence[Any]] | None = None,
    ids: Collection[str] = (),
    padding: Mapping[str, Any] | None = None,
    row_filter: Any = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the rows of Parquet files; needs pyarrow.

    Workers divide the rows equally, in contiguous parts. With `shuffle`, each epoch reads the row
    groups in a new order, and shuffles every `buffer_size` consecutive rows (10,000 by default).

    Numbers and bools keep their types, and text and bytes become tf.string. Dates and times become
    integers since 1970-01-01 in their unit (days for date32), and decimals tf.float64. Lists become
    ragged tensors, fixed-size lists a matrix, and values of a dictionary themselves. The field b of
    a struct a becomes the feature a.b. Folders such as `day=20`, below a folder or from the first
    wildcard, add the column `day`: tf.int64 if all values are integers, else tf.string.

    Args:
      file_pattern: Pattern of the files, a folder, or a list of these. A folder means its .parquet
        files. fsspec opens URLs, such as s3://bucket/table/*.parquet.
      label: Name of the label column, or a list of names for a dict of labels; None gives features
        without labels.
      select: Columns to read besides the labels; None reads all.
      types: Maps column names to the types to which their values are converted. A value that would
        change, such as NaN as tf.int64, is an error.
      defaults: Maps column names to a value for missing values, also those in lists; a missing list
        becomes an empty one. A missing value in another column is an error.
      vocabularies: Maps column names to lists of values. Such a column becomes the index of the
        value, tf.int64 from 0, or the number of values for an unknown one. An unknown label is an
        error.
      ids: Dictionary columns that become the numbers of values in the dictionary, tf.int64. All row
        groups must have the same dictionary.
      padding: Maps list columns to a value that fills each list to the longest of its batch; the
        column then becomes a dense tensor.
      row_filter: An expression of `pyarrow.compute`, such as `pc.field("day") >= 20`. Row groups
        whose statistics or folders exclude it are not read; all rows of the others are.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts of features by column name, or of (features, labels), each of
      shape (batch_size, ...). For a value that has no tensor, or a damaged row group, the iteration
      raises a `tf.errors.InvalidArgumentError` that names file, row group and column, or skips the
      row or the remaining row group.

    Raises:
      FileNotFoundError: No file matches.
      ImportError: pyarrow is not installed.
      TypeError: A column has a type without a tensor, or `row_filter` is no expression.
      ValueError: A file is unreadable, files differ, a column does not exist, there are no rows, or
        an argument is out of range.
    """
    options = PipelineOptions.from_arguments(settings)
    import_pyarrow("parquet")
    import pyarrow.compute as pc

    if row_filter is not None and not isinstance(row_filter, pc.Expression):
        raise TypeError(
            "row_filter must be an expression of pyarrow.compute, such as "
            f"pc.field('day') >= 20, but got {row_filter!r}."
        )
    column_settings = ColumnSettings(
        select, types or {}, defaults or {}, vocabularies or {}, ids, padding or {}, row_filter
    )
    paths, folders = list_table_files(file_pattern, (".parquet",))
    partitions = read_partitions(paths, folders)

    def open_one(path: str) -> ParquetFile:
        return ParquetFile(path, row_filter, partitions[path])

    return read_table_files(paths, partitions, open_one, label, column_settings, options, "parquet")
