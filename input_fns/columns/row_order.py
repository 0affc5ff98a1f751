"""The order of rows: pieces of row groups, divided among pipelines and shuffled for each epoch."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from input_fns.pipeline.options import DEFAULT_SHUFFLE_ROWS, PipelineOptions

_BLOCK_ROWS = 1 << 15  # A call of Python for each block then costs nothing.


@dataclasses.dataclass(frozen=True)
class Piece:
    """Consecutive rows of a row group.

    Attributes:
      file: Number of the file.
      group: Number of the row group in the file.
      start: First row in the row group.
      stop: Row after the last.
    """

    file: int
    group: int
    start: int
    stop: int


def divide_rows(group_rows: Sequence[Sequence[int]], options: PipelineOptions) -> list[Piece]:
    """Returns the pieces of one pipeline: an equal, contiguous part of all rows.

    Args:
      group_rows: For each file, the numbers of rows of its row groups.
      options: The settings of the pipeline.

    Raises:
      ValueError: This pipeline gets no row.
    """
    total = sum(map(sum, group_rows))
    options.count_own_rows(total)
    first = total * options.pipeline_index // options.num_pipelines
    last = total * (options.pipeline_index + 1) // options.num_pipelines
    pieces, position = [], 0
    for file, groups in enumerate(group_rows):
        for group, rows in enumerate(groups):
            start, stop = max(first - position, 0), min(last - position, rows)
            if start < stop:
                pieces.append(Piece(file, group, start, stop))
            position += rows
    return pieces


class RowOrder:
    """The order in which one pipeline reads its rows, as a sequence of blocks.

    A block is the rows of some batches. It depends only on the seed and the number of the block,
    so that a position in the input is these two numbers. Blocks continue over the ends of row
    groups, files and epochs.

    Args:
      pieces: The rows of the pipeline.
      options: The settings of the pipeline.
      max_block_rows: Maximum number of rows of a block that is not shuffled within a window.
      shuffles_all: Whether a shuffle without a buffer_size moves rows anywhere; reading all pieces
        for each block must then be cheap.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        options: PipelineOptions,
        max_block_rows: int,
        shuffles_all: bool = False,
    ) -> None:
        self._pieces = list(pieces)
        self._shuffles = options.shuffle
        self._shuffles_all = options.shuffle and shuffles_all and options.buffer_size is None
        self._window = options.buffer_size or DEFAULT_SHUFFLE_ROWS
        self.rows = sum(piece.stop - piece.start for piece in pieces)
        # A window of a shuffle is in one block.
        has_windows = options.shuffle and not self._shuffles_all
        rows_in_block = self._window if has_windows else min(_BLOCK_ROWS, max_block_rows)
        self.block_rows = max(1, rows_in_block // options.batch_size) * options.batch_size
        self.all_rows = None if options.num_epochs is None else self.rows * options.num_epochs
        self._arrange = functools.lru_cache(maxsize=2)(self._arrange_epoch)
        self._permute = functools.lru_cache(maxsize=2)(self._permute_epoch)

    @property
    def num_blocks(self) -> int | None:
        """The number of blocks; None without a number of epochs."""
        return None if self.all_rows is None else -(-self.all_rows // self.block_rows)

    def list_parts(self, seed: int, block: int) -> Iterator[tuple[list[Piece], np.ndarray | None]]:
        """Yields the parts of a block, one for each epoch in it.

        Args:
          seed: Seed of the pipeline.
          block: Number of the block.

        Yields:
          The pieces to read, and the order of their rows; None if they are not shuffled.
        """
        position = block * self.block_rows
        end = position + self.block_rows
        if self.all_rows is not None:
            end = min(end, self.all_rows)
        while position < end:
            epoch, row = divmod(position, self.rows)
            count = min(end - position, self.rows - row)
            if self._shuffles_all:
                yield self._pieces, self._permute(seed, epoch)[row : row + count]
            else:
                order = self._shuffle_windows(seed, position, count) if self._shuffles else None
                yield self._list_pieces(seed, epoch, row, row + count), order
            position += count

    def _list_pieces(self, seed: int, epoch: int, first: int, last: int) -> list[Piece]:
        numbers, ends = self._arrange(seed if self._shuffles else 0, epoch if self._shuffles else 0)
        found = []
        for place in range(int(np.searchsorted(ends, first, "right")), len(ends)):
            piece = self._pieces[numbers[place]]
            offset = piece.start - (ends[place] - (piece.stop - piece.start))
            start, stop = max(piece.start, first + offset), min(piece.stop, last + offset)
            if start >= stop:
                break
            found.append(Piece(piece.file, piece.group, int(start), int(stop)))
        return found

    def _arrange_epoch(self, seed: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the numbers of the pieces in the order of an epoch, and where each ends."""
        numbers = np.arange(len(self._pieces))
        if self._shuffles:
            numbers = _make_random(seed, 0, epoch).permutation(numbers)
        lengths = np.array([piece.stop - piece.start for piece in self._pieces])
        return numbers, np.cumsum(lengths[numbers])

    def _permute_epoch(self, seed: int, epoch: int) -> np.ndarray:
        return _make_random(seed, 2, epoch).permutation(self.rows)

    def _shuffle_windows(self, seed: int, position: int, count: int) -> np.ndarray:
        random = _make_random(seed, 1, position)
        starts = range(0, count, self._window)
        windows = [np.arange(start, min(start + self._window, count)) for start in starts]
        return np.concatenate([random.permutation(window) for window in windows])


def _make_random(*numbers: int) -> np.random.RandomState:
    """Returns a generator whose numbers are the same in every release of NumPy."""
    parts = [part for number in numbers for part in (number & 0xFFFFFFFF, number >> 32)]
    return np.random.RandomState(np.array(parts, np.uint32))
