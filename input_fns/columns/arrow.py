"""Batches of the rows of Arrow files."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import tensorflow as tf

from input_fns.columns.columns import ColumnSettings
from input_fns.columns.ipc_files import IpcFile
from input_fns.columns.partitions import read_partitions
from input_fns.columns.pipeline import read_table_files
from input_fns.columns.table_files import FilePattern, import_pyarrow, list_table_files
from input_fns.pipeline.options import PipelineOptions

_EXTENSIONS = (".arrow", ".arrows", ".feather", ".ipc")


def arrow(
    file_pattern: FilePattern,
    label: str | Sequence[str] | None = None,
    *,
    select: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    vocabularies: Mapping[str, Sequence[Any]] | None = None,
    ids: Collection[str] = (),
    padding: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the rows of Arrow files: IPC files (also Feather 2) and streams.

    A row group is consecutive record batches of at least 65,536 rows together, or a complete
    stream. This call reads one column of each file to count the rows.

    Args:
      file_pattern: Pattern of the files, a folder, or a list of these. A folder means its .arrow,
        .arrows, .feather and .ipc files. fsspec opens URLs.
      label: As for `parquet`.
      select: As for `parquet`.
      types: As for `parquet`.
      defaults: As for `parquet`.
      vocabularies: As for `parquet`.
      ids: As for `parquet`.
      padding: As for `parquet`.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` as of `parquet`.

    Raises:
      FileNotFoundError: No file matches.
      ImportError: pyarrow is not installed.
      TypeError: A column has a type without a tensor.
      ValueError: A file is unreadable, files differ, a column does not exist, there are no rows, or
        an argument is out of range.
    """
    options = PipelineOptions.from_arguments(settings)
    import_pyarrow("arrow")
    column_settings = ColumnSettings(
        select, types or {}, defaults or {}, vocabularies or {}, ids, padding or {}
    )
    paths, folders = list_table_files(file_pattern, _EXTENSIONS)
    partitions = read_partitions(paths, folders)
    return read_table_files(paths, partitions, IpcFile, label, column_settings, options, "arrow")
