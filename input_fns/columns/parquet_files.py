"""Files of Parquet, and their row groups that can have a row of a filter."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from input_fns.columns import field_ids
from input_fns.columns.columns import ColumnError
from input_fns.columns.table_files import FilterError, describe_error, open_file

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

# Each column of floats in a filter doubles the number of its cases.
_MAX_FLOATS = 5
_MAX_MICROSECONDS = (2**63 - 1) // 1000
_LATE = (
    "which int64 nanoseconds do not hold; write the times as microseconds, in Spark with "
    "spark.sql.parquet.outputTimestampType=TIMESTAMP_MICROS, or read the file into memory: "
    "input_fns.frame(pyarrow.parquet.read_table(path, coerce_int96_timestamp_unit='us'))"
)


class ParquetFile:
    """Parquet file.

    Args:
      path: Its path or URL.
      row_filter: Expression of pyarrow.compute; row groups whose statistics exclude it are not
        read. None reads all.
      partition: Values of further columns, which the filter may contain.
    """

    def __init__(
        self, path: str, row_filter: Any = None, partition: "Mapping[str, pa.Scalar] | None" = None
    ) -> None:
        import pyarrow.parquet as pq

        self.path = path
        with open_file(path) as file, pq.ParquetFile(file) as parquet:
            self._metadata = parquet.metadata
            self.schema = field_ids.remove_numbers_by_order(
                parquet.schema_arrow, parquet.metadata.created_by
            )
        metadata = self._metadata
        leaves = [metadata.schema.column(number) for number in range(metadata.num_columns)]
        self._int96 = [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]
        self._checked: set[tuple[int, str]] = set()
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        selected = set(range(len(groups)))
        if row_filter is not None:
            selected = _select_groups(path, self.schema, len(groups), row_filter, partition or {})
        self.group_rows = [
            group.num_rows if number in selected else 0 for number, group in enumerate(groups)
        ]
        total_bytes = sum(group.total_byte_size for group in groups)
        self.row_bytes = total_bytes / max(1, metadata.num_rows)

    def iterate(
        self, group: int, columns: Sequence[str], batch_rows: int
    ) -> "Iterator[pa.RecordBatch]":
        """Yields the record batches of a row group, with the columns read in Arrow's threads."""
        import pyarrow.parquet as pq

        self._check_times(group, columns, batch_rows)
        with (
            open_file(self.path) as file,
            pq.ParquetFile(file, metadata=self._metadata, pre_buffer="://" in self.path) as parquet,
        ):
            yield from parquet.iter_batches(
                batch_rows, row_groups=[group], columns=list(columns), use_threads=True
            )

    def _check_times(self, group: int, columns: Sequence[str], batch_rows: int) -> None:
        """Checks that nanoseconds hold the times of type INT96, which Spark and Hive write.

        pyarrow reads others as wrong times (`findings/pyarrow_int96_times_wrap.sh`).

        Raises:
          ColumnError: They do not.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
        from pyarrow import types

        # A second reading, in microseconds, which hold all of these times, but not their fractions.
        for path in self._int96:
            name = next((name for name in columns if f"{path}.".startswith(f"{name}.")), None)
            if name is None or (group, path) in self._checked:
                continue
            with (
                open_file(self.path) as file,
                pq.ParquetFile(
                    file, metadata=self._metadata, coerce_int96_timestamp_unit="us"
                ) as parquet,
            ):
                for batch in parquet.iter_batches(batch_rows, row_groups=[group], columns=[path]):
                    times = batch.column(0)
                    while not types.is_timestamp(times.type):
                        flat = times.flatten()
                        times = flat[0] if types.is_struct(times.type) else flat
                    numbers = pc.cast(times, "int64")
                    is_other = pc.or_(
                        pc.less(numbers, -_MAX_MICROSECONDS), pc.greater(numbers, _MAX_MICROSECONDS)
                    )
                    if pc.any(is_other).as_py():
                        raise ColumnError(
                            name, f"has the time {times.filter(is_other)[0]}, {_LATE}"
                        )
            self._checked.add((group, path))


def _select_groups(
    path: str,
    own_schema: "pa.Schema",
    num_groups: int,
    row_filter: Any,
    partition: "Mapping[str, pa.Scalar]",
) -> set[int]:
    """Returns the numbers of the row groups whose statistics allow a row of a filter.

    The statistics of a row group leave out NaN, but pyarrow takes them for limits of all values
    (`findings/parquet_filters_lose_nan.sh`). So the filter is also asked what it says of NaN.

    Args:
      path: The file.
      own_schema: Its columns.
      num_groups: Its number of row groups.
      row_filter: An expression of pyarrow.compute.
      partition: Values of further columns.

    Raises:
      FilterError: The filter names a column that does not exist, or compares types that pyarrow
        cannot compare.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    schema = own_schema
    known = pc.scalar(True)
    for name, value in partition.items():
        if name not in own_schema.names:  # The rows have the values of a column in the file.
            column = pc.field(name)
            known &= (column == value) if value.is_valid else column.is_null()
            schema = schema.append(pa.field(name, value.type))
    groups: set[int] = set()
    floats = _find_floats(own_schema, str(row_filter))
    if len(floats) > _MAX_FLOATS:
        return set(range(num_groups))
    try:
        for case in _list_cases(floats):
            with open_file(path) as file:
                fragment = ds.ParquetFileFormat().make_fragment(
                    file, partition_expression=known & case
                )
                parts = fragment.split_by_row_group(row_filter, schema=schema)
                groups.update(group.id for part in parts for group in part.row_groups)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FilterError(f"row_filter: {path}: {describe_error(error)}.") from error
    return groups


def _list_cases(floats: "Collection[pc.Expression]") -> "Iterator[pc.Expression]":
    """Yields what a filter may assume: nothing, or that some of the columns are NaN."""
    import pyarrow.compute as pc

    for count in range(len(floats) + 1):
        for columns in itertools.combinations(floats, count):
            case = pc.scalar(True)
            for column in columns:
                case &= column == float("nan")
            yield case


def _find_floats(schema: "pa.Schema", filter_text: str) -> "list[pc.Expression]":
    """Returns the columns of floats that a filter may name."""
    import pyarrow.compute as pc

    return [
        pc.field(*path)
        for path in _walk_floats(schema, ())
        if re.search(rf"(?<!\w){re.escape(path[-1])}(?!\w)", filter_text)
    ]


def _walk_floats(fields: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    from pyarrow import types

    for field in fields:
        path = (*above, field.name)
        if types.is_struct(field.type):
            yield from _walk_floats(field.type, path)
        elif types.is_floating(field.type):
            yield path
