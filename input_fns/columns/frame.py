"""Batches of the rows of a frame or table in memory."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from input_fns.columns.columns import ColumnSettings
from input_fns.columns.pipeline import read_tables
from input_fns.columns.table_files import import_pyarrow
from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions

if TYPE_CHECKING:
    import pyarrow as pa


def frame(
    frame: Any,
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
    """Returns batches of the rows of a frame, as they are now; needs pyarrow.

    Columns keep their types: integers with missing values stay integers, and 64-bit floats are not
    shortened. NaN is a value in pandas columns of NumPy floats, and otherwise None, NaN, NaT and
    NA of pandas are missing values. Categories become their values.

    Args:
      frame: A frame of pandas or polars, a table of pyarrow, a `Dataset` of Hugging Face, or an
        object with the Arrow C stream protocol or the dataframe interchange protocol.
      label: As for `parquet`.
      select: As for `parquet`.
      types: As for `parquet`.
      defaults: As for `parquet`.
      vocabularies: As for `parquet`.
      ids: As for `parquet`.
      padding: As for `parquet`.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`. With
        `shuffle` and no `buffer_size`, rows move anywhere.

    Returns:
      A `tf.data.Dataset` as of `parquet`.

    Raises:
      ImportError: pyarrow is not installed.
      TypeError: `frame` is not a frame in memory, or a column has a type without a tensor.
      ValueError: The frame is empty, a column does not exist, two columns have the same name, or an
        argument is out of range.
    """
    options = PipelineOptions.from_arguments(settings)
    import_pyarrow("frame")
    if options.cache is not None:
        raise ValueError(f"cache={options.cache!r}: a frame is in memory. Set cache=None.")
    table = _FrameTable(frame)
    if not table.group_rows[0]:
        raise ValueError(f"{table.path} has no rows.")
    column_settings = ColumnSettings(
        select, types or {}, defaults or {}, vocabularies or {}, ids, padding or {}
    )
    return read_tables([table], label, column_settings, BadRecords(options), shuffles_all=True)


class _FrameTable:
    """Table in memory with one row group.

    Args:
      frame: See `frame`.
    """

    def __init__(self, frame: Any) -> None:
        self.path = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        self._table = _to_table(frame).combine_chunks()
        self.schema = self._table.schema
        self.group_rows = [self._table.num_rows]
        self.row_bytes = self._table.nbytes / max(1, self._table.num_rows)

    def iterate(
        self, group: int, columns: Sequence[str], batch_rows: int
    ) -> "Iterator[pa.RecordBatch]":
        """Returns an iterator over the only batch of the table."""
        del group, batch_rows
        names = [
            name
            for name in self.schema.names
            if any(column == name or column.startswith(f"{name}.") for column in columns)
        ]
        return iter(self._table.select(names).to_batches())


def _to_table(frame: Any) -> "pa.Table":
    import pyarrow as pa

    kind = type(frame).__name__
    if kind in ("LazyFrame", "DatasetDict", "IterableDataset", "Series"):
        advice = {
            "Series": "call its to_frame()",
            "LazyFrame": "call its collect()",
            "DatasetDict": "choose a split, such as frame['train']",
            "IterableDataset": "use input_fns.generator, or write it with its to_parquet",
        }
        raise TypeError(f"frame must be a frame in memory, but got {kind}: {advice[kind]}.")
    if hasattr(frame, "with_format") and hasattr(frame, "features"):  # Of Hugging Face.
        if frame.format["type"] == "custom":
            raise TypeError(
                "frame must be a frame in memory, but got a Dataset with a transform, which runs "
                "when a program reads a row: use its map instead of set_transform."
            )
        # Without `columns` a new format shows all of them.
        shown = None if frame.format["output_all_columns"] else frame.format["columns"]
        return frame.with_format("arrow", columns=shown)[:]
    if hasattr(frame, "dtypes") and hasattr(frame, "iloc"):
        return _copy_pandas(frame)
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch) or hasattr(frame, "__arrow_c_stream__"):
        _refuse_objects(frame)
        try:
            return pa.table(frame)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise TypeError(
                f"frame has a column of a type that pyarrow does not have: {reason}. Cast or drop "
                "this column."
            ) from error
    if hasattr(frame, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(frame, allow_copy=True)
    raise TypeError(
        "frame must be a frame of pandas or polars, a table of Arrow or a Dataset, but got "
        f"{kind}{_find_conversion(frame)}."
    )


def _find_conversion(frame: Any) -> str:
    """Returns the call that makes a table of an object, such as of a table of LanceDB."""
    if hasattr(frame, "deletion_vectors"):  # Its own table has columns of other names.
        return ": use input_fns.parquet with the folder of the table"
    if callable(getattr(frame, "scan", None)) and hasattr(frame, "snapshots"):
        return ": call its scan().to_arrow()"
    for name in ("to_arrow", "to_arrow_table", "to_table", "fetch_arrow_table", "read_all"):
        if callable(getattr(frame, name, None)):
            return f": call its {name}()"
    return ""


def _refuse_objects(frame: Any) -> None:
    """Raises TypeError for objects of polars: Arrow gets their addresses as bytes."""
    if not type(frame).__module__.startswith("polars"):
        return
    for name, dtype in frame.schema.items():
        if str(dtype) == "Object":
            raise TypeError(
                f"frame has a column {name!r} of Python objects, which Arrow does not have. "
                "Convert or drop this column."
            )


def _copy_pandas(frame: Any) -> "pa.Table":
    """Returns a table that shares no memory which the program can change."""
    import pyarrow as pa

    arrays, names = [], [str(name) for name in frame.columns]
    for position, name in enumerate(names):
        column = frame.iloc[:, position]
        try:
            if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
                arrays.append(pa.array(column.to_numpy(copy=True)))
            else:
                arrays.append(pa.array(column.copy(), from_pandas=True))
        except (pa.ArrowException, OverflowError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise TypeError(
                f"Column {name!r} has no type of Arrow: {reason}. Convert it, for example with "
                "frame.astype, or drop it."
            ) from error
    return pa.table(arrays, names=names)
