"""The tf.data pipeline of tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from input_fns.columns import field_ids
from input_fns.columns.block_reader import BlockReader
from input_fns.columns.columns import Column, ColumnSettings, make_columns
from input_fns.columns.partitions import add_partitions
from input_fns.columns.piece_reader import PieceReader
from input_fns.columns.row_order import RowOrder, divide_rows
from input_fns.columns.schemas import (
    fill_missing_columns,
    find_common_types,
    replace_null_types,
)
from input_fns.columns.table_files import TableFile, open_files
from input_fns.pipeline.batching import read_epochs
from input_fns.pipeline.guard import BadRecords, refill_batches
from input_fns.pipeline.options import MEMORY, PipelineOptions
from input_fns.pipeline.process_end import is_program_running, stop_at_exit

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 16 << 20

Label = str | Sequence[str] | None


def read_table_files(
    paths: Sequence[str],
    partitions: "Mapping[str, Mapping[str, pa.Scalar]]",
    open_one: Callable[[str], TableFile],
    label: Label,
    settings: ColumnSettings,
    options: PipelineOptions,
    reader: str,
) -> tf.data.Dataset:
    """Returns the complete pipeline of some files.

    Args:
      paths: The files.
      partitions: The values in the names of the folders of each file, from `read_partitions`.
      open_one: Function that opens a file, and raises OSError or ValueError for an unreadable one.
      label: Name of the label column, names for a dict of labels, or None.
      settings: The settings of columns.
      options: The settings of the pipeline.
      reader: Name of the function of `input_fns`.

    Raises:
      TypeError: A column has a type without a tensor.
      ValueError: A file is unreadable, files differ, a column does not exist, or there are no rows.
    """
    if options.cache not in (None, MEMORY):
        raise ValueError(
            f"cache={options.cache!r}: tables are cached only in memory. Set cache='memory' or "
            "cache=None."
        )
    bad = BadRecords(options)
    files = add_partitions(open_files(paths, open_one, bad, reader), partitions)
    return read_tables(files, label, settings, bad)


def read_tables(
    files: Sequence[TableFile],
    label: Label,
    settings: ColumnSettings,
    bad: BadRecords,
    shuffles_all: bool = False,
) -> tf.data.Dataset:
    """Returns the complete pipeline of opened files.

    Args:
      files: The files.
      label: Name of the label column, names for a dict of labels, or None.
      settings: The settings of columns.
      bad: Handler of bad records, which has the settings of the pipeline.
      shuffles_all: See `RowOrder`.

    Raises:
      TypeError: A column has a type without a tensor.
      ValueError: Files differ, a column does not exist, or this pipeline gets no row or no batch.
    """
    labels = _list_labels(label)
    files, fields = fill_missing_columns(files, settings.defaults)
    first = replace_null_types(fields)
    columns = make_columns(files[0].path, first, settings, labels)
    field_ids.check_columns(files, columns, settings.row_filter)
    types = find_common_types(files, fields, first, columns)
    options = bad.options
    row_bytes = max(1.0, *(file.row_bytes for file in files))
    own_pieces = divide_rows([file.group_rows for file in files], options)
    order = RowOrder(own_pieces, options, int(_BLOCK_BYTES / row_bytes), shuffles_all)
    cardinality = options.cardinality(order.rows)
    # A block has many epochs of a small table: without the cache it would open files for each.
    groups = {(piece.file, piece.group) for piece in own_pieces}
    group_rows = sum(files[file].group_rows[group] for file, group in groups)
    is_cached = options.cache == MEMORY or group_rows <= order.block_rows
    pieces = PieceReader(files, columns, types, order.block_rows, is_cached)
    reader = BlockReader(pieces, columns, order, bad)
    read = stop_at_exit(reader.read, lambda: reader.make_fault("The program has ended."))
    drops = options.drop_remainder and not bad.are_skipped
    dtypes = [dtype for column in columns for dtype in column.layout.dtypes]

    def read_block(seed: tf.Tensor, number: tf.Tensor) -> tf.data.Dataset:
        # Without state: tf.data can save such iterators.
        fault, rows, *tensors = tf.numpy_function(
            read, [seed, number], [tf.string, tf.int64, *dtypes], stateful=False
        )
        with tf.control_dependencies([tf.debugging.Assert(tf.equal(fault, ""), [fault])]):
            rows = tf.ensure_shape(rows, [])
        parts = _set_shapes(columns, tensors)
        return _cut_block(columns, parts, rows, label, options.batch_size, drops)

    def read_all(seed: tf.Tensor) -> tf.data.Dataset:
        if order.num_blocks is None:
            numbers = tf.data.Dataset.counter()
        else:
            numbers = tf.data.Dataset.range(order.num_blocks)
        # The end of the program ends the input: errors would let tf.data call `read` again.
        numbers = numbers.take_while(is_program_running)
        return numbers.flat_map(lambda number: read_block(seed, number))

    if options.shuffle:
        seeds = tf.data.Dataset.random(options.seed, rerandomize_each_iteration=True).take(1)
    else:
        seeds = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64))
    parts = [(piece.start, piece.stop) for piece in own_pieces]
    window = options.buffer_size if options.shuffle else None
    batches = read_epochs(seeds, [order.block_rows, window, parts], read_all)
    if bad.are_skipped:
        batches = refill_batches(batches, bad)
    else:
        batches = batches.apply(tf.data.experimental.assert_cardinality(cardinality))
    return options.finish(batches)


def _cut_block(
    columns: Sequence[Column],
    parts: Sequence[Sequence[tf.Tensor]],
    rows: tf.Tensor,
    label: Label,
    batch_size: int,
    drops: bool,
) -> tf.data.Dataset:
    """Returns the batches of a block."""
    flat = [tensor for part in parts for tensor in part]
    starts = tf.data.Dataset.range(0, rows - rows % batch_size if drops else rows, batch_size)

    def cut(start: tf.Tensor, rows: tf.Tensor, *tensors: tf.Tensor) -> Any:
        stop = start + batch_size if drops else tf.minimum(start + batch_size, rows)
        given = iter(tensors)
        batch = {}
        for column, part in zip(columns, parts, strict=True):
            value = column.slice_rows([next(given) for _ in part], start, stop)
            if isinstance(value, tf.Tensor):
                value.set_shape([batch_size if drops else None, *value.shape[1:]])
            batch[column.name] = value
        return _split_labels(batch, label)

    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in (rows, *flat)]
    function = tf.function(cut, autograph=False).get_concrete_function(starts.element_spec, *specs)
    if any(
        isinstance(tensor, tf.RaggedTensor)
        for tensor in tf.nest.flatten(function.structured_outputs)
    ):
        return starts.map(lambda start: cut(start, rows, *flat))
    # One thread runs the function: handing its few operations to a pool would cost more than they
    # do.
    batches = tf.raw_ops.MapDataset(
        input_dataset=tf.data.experimental.to_variant(starts),
        other_arguments=[rows, *flat],
        f=function,
        output_types=[output.dtype for output in function.outputs],
        output_shapes=[output.shape for output in function.outputs],
        use_inter_op_parallelism=False,
        preserve_cardinality=True,
    )
    structure = tf.nest.map_structure(
        lambda output: tf.TensorSpec(output.shape, output.dtype), function.structured_outputs
    )
    return tf.data.experimental.from_variant(batches, structure)


def _list_labels(label: Label) -> list[str]:
    if label is None or isinstance(label, str):
        return [] if label is None else [label]
    if not isinstance(label, (list, tuple)) or not all(isinstance(name, str) for name in label):
        raise TypeError(
            f"label must be the name of a column or a list of names, but got {label!r}. The name "
            "of a column that is not text is its text, such as '1'."
        )
    if len(set(label)) < len(label):
        raise ValueError(f"label must name each column once, but got {[*label]}.")
    return [*label]


def _split_labels(batch: dict[str, Any], label: Label) -> Any:
    if label is None:
        return batch
    labels = batch.pop(label) if isinstance(label, str) else {k: batch.pop(k) for k in label}
    return batch, labels


def _set_shapes(columns: Sequence[Column], tensors: Sequence[tf.Tensor]) -> list[list[tf.Tensor]]:
    """Returns the tensors of each column with their ranks and inner shapes."""
    parts, rest = [], list(tensors)
    for column in columns:
        count = column.layout.ragged_rank
        splits, values, rest = rest[:count], rest[count], rest[count + 1 :]
        for tensor in splits:
            tensor.set_shape([None])
        values.set_shape([None, *column.layout.inner_shape])
        parts.append([*splits, values])
    return parts
