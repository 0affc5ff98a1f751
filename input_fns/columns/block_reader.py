"""Reads blocks of rows ahead, in one thread, and converts them to arrays."""

import collections
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from input_fns.columns.columns import Column, ColumnError
from input_fns.columns.piece_reader import DamagedFileError, PieceReader, describe_place
from input_fns.columns.row_order import Piece, RowOrder
from input_fns.pipeline.guard import BadRecords

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCKS_AHEAD = 2


class _BadRowError(ValueError):
    """Error that ends the input; its text names file, row group and column."""


class BlockReader:
    """Reader of the blocks of one pipeline.

    `read` gives the same arrays for the same arguments, so that tf.data can save its iterators. It
    is fast for consecutive blocks.

    Args:
      pieces: The reader of pieces.
      columns: The columns to read.
      order: The order of the rows.
      bad: Handler of bad records.
    """

    def __init__(
        self, pieces: PieceReader, columns: Sequence[Column], order: RowOrder, bad: BadRecords
    ) -> None:
        self._pieces, self._columns, self._order, self._bad = pieces, columns, order, bad
        self._lock = threading.Lock()
        self._blocks: collections.OrderedDict[tuple[int, int], Future[list[np.ndarray]]]
        self._blocks = collections.OrderedDict()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="input_fns")

    def read(self, seed: np.int64, number: np.int64) -> list[np.ndarray]:
        """Returns an error message or b"", the number of rows, and the arrays of all columns."""
        try:
            block = self._take_block(int(seed), int(number))
        except RuntimeError as error:  # The interpreter ends, or has no more threads.
            return self.make_fault(str(error))
        return block.result()

    def make_fault(self, fault: str) -> list[np.ndarray]:
        """Returns the arrays of a block that could not be read."""
        empty = [array for column in self._columns for array in column.make_empty()]
        return [np.array(fault.encode(), object), np.array(0), *empty]

    def _take_block(self, seed: int, number: int) -> "Future[list[np.ndarray]]":
        """Returns a block, and starts to read the blocks after it."""
        with self._lock:
            block = self._blocks.pop((seed, number), None) or self._start(seed, number)
            for ahead in range(number + 1, number + 1 + _BLOCKS_AHEAD):
                if self._order.num_blocks is None or ahead < self._order.num_blocks:
                    following = (seed, ahead)
                    self._blocks[following] = self._blocks.get(following) or self._start(*following)
            while len(self._blocks) > _BLOCKS_AHEAD:
                self._blocks.popitem(last=False)[1].cancel()
        return block

    def _start(self, seed: int, number: int) -> "Future[list[np.ndarray]]":
        return self._pool.submit(self._read_block, seed, number)

    def _read_block(self, seed: int, number: int) -> list[np.ndarray]:
        import pyarrow as pa

        try:
            parts = [
                (self._read_part(pieces), pieces, order)
                for pieces, order in self._order.list_parts(seed, number)
            ]
            try:
                table = _concatenate([_reorder(*rows, order) for rows, _, order in parts])
                return [np.array(b"", object), np.array(table.num_rows), *self._convert(table)]
            except ColumnError:
                table = _concatenate(
                    [
                        _reorder(*self._remove_bad_rows(*rows, pieces), order)
                        for rows, pieces, order in parts
                    ]
                )
                return [np.array(b"", object), np.array(table.num_rows), *self._convert(table)]
        except (_BadRowError, pa.ArrowException) as error:
            return self.make_fault(str(error))

    def _read_part(self, pieces: Sequence[Piece]) -> "tuple[pa.Table, np.ndarray | None]":
        """Returns the rows of pieces, and which of them could be read; None means all."""
        tables, is_read, has_all = [], [], True
        for piece in pieces:
            try:
                table = self._pieces.read(piece)
            except DamagedFileError as error:
                if error.is_new:
                    self._skip_or_raise(str(error))
                table, has_all = self._pieces.make_empty(), False
            tables.append(table)
            is_read.append(np.broadcast_to(table.num_rows > 0, piece.stop - piece.start))
        return _concatenate(tables), None if has_all else np.concatenate(is_read)

    def _convert(self, table: "pa.Table") -> list[np.ndarray]:
        return [
            array
            for column in self._columns
            for array in column.to_arrays(_join_chunks(table[column.name]))
        ]

    def _remove_bad_rows(
        self, table: "pa.Table", is_read: np.ndarray | None, pieces: Sequence[Piece]
    ) -> "tuple[pa.Table, np.ndarray]":
        """Returns the good rows, and which of all rows they are."""
        if is_read is None:
            is_read = np.ones(table.num_rows, bool)
        rows = np.flatnonzero(is_read)
        is_good = np.ones(table.num_rows, bool)
        places = [(piece, row) for piece in pieces for row in range(piece.start, piece.stop)]
        for column in self._columns:
            for number, reason in column.find_bad_rows(_join_chunks(table[column.name])):
                if is_good[number]:
                    is_good[number] = False
                    piece, row = places[rows[number]]
                    place = describe_place(self._pieces.files[piece.file].path, piece.group)
                    self._skip_or_raise(f"{place}, row {row}: {reason}")
        is_left = is_read.copy()
        is_left[rows[~is_good]] = False
        return table.filter(is_good), is_left

    def _skip_or_raise(self, fault: str) -> None:
        if self._bad.are_skipped:
            fault = self._bad.count_skipped(fault.encode()).decode()
        if fault:
            raise _BadRowError(fault)


def _reorder(table: "pa.Table", is_read: np.ndarray | None, order: np.ndarray | None) -> "pa.Table":
    """Returns rows in an order of all rows, of which the table may lack some."""
    if order is None:
        return table
    if is_read is None:
        return table.take(order)
    numbers = np.cumsum(is_read) - 1
    return table.take(numbers[order[is_read[order]]])


def _concatenate(tables: "Sequence[pa.Table]") -> "pa.Table":
    import pyarrow as pa

    return pa.concat_tables(tables).combine_chunks()


def _join_chunks(column: "pa.ChunkedArray") -> "pa.Array":
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
