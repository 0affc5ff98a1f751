"""Records of files that are read from start to end: interleaved, shuffled, batched, then parsed.

Records go through the stages in blocks, as vectors of strings; to handle them one by one would
cost several times as much. Each carries a number, of its file and of its place there, so that an
error can name it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.guard import BadRecords, full_batches, guarded, told
from input_fns.pipeline.options import MEMORY, SHUFFLED, PipelineOptions

BLOCK = 256
BUFFER = 1 << 20  # Bytes that are read of a file at a time.
_PARSED = 512  # Records in a chunk that is parsed and guarded at once, if batches are smaller.
_FILES_AT_A_TIME = 4
# A record's number is that of its file times this, plus that of its place in it.
_MOST_RECORDS = 1 << 40

Blocks = Callable[[tf.Tensor, tf.Tensor], tf.data.Dataset]


def list_files(file_pattern: Any) -> list[str]:
    """Returns the files of a pattern or a list of patterns, sorted, none of them empty.

    Raises:
      FileNotFoundError: A pattern matches no file.
      ValueError: A file is empty.
      TypeError: A pattern is not a path.
    """
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("file_pattern must name at least one file, but it is an empty list.")
    files = []
    for pattern in patterns:
        found = sorted(tf.io.gfile.glob(checks.path("file_pattern", pattern)))
        if not found:
            raise FileNotFoundError(f"No file matches file_pattern {str(pattern)!r}.")
        files += found
    for file in files:
        if tf.io.gfile.isdir(file):
            raise ValueError(f"{file} is a folder: file_pattern must match files.")
        if tf.io.gfile.stat(file).length == 0:
            raise ValueError(f"{file} is empty: remove it, or get a fresh copy.")
    return files


class Stream:
    """The records of some files, up to batches that are still to be parsed.

    Args:
      files: The files.
      blocks: Function of a file's number and name to a dataset of (record vectors, numbers of the
        records in the file).
      options: The settings.
      bad: What happens to bad records.
    """

    def __init__(
        self,
        files: Sequence[str],
        blocks: Blocks,
        options: PipelineOptions,
        bad: BadRecords,
    ) -> None:
        if options.cache not in (None, MEMORY):
            raise ValueError(
                f"cache={options.cache!r}: records of files are cached in memory alone; a file "
                "caches pictures. Give cache='memory', or none."
            )
        self.files, self.options = list(files), options
        self._blocks_of, self._bad = blocks, bad
        # Whole files to each pipeline, if that is even; else every so manieth record.
        self._by_file = len(self.files) % options.pipelines == 0

    def batches(self, batches_in_one: int = 1) -> tf.data.Dataset:
        """Returns a dataset of (records, numbers), vectors of one batch, or of several.

        Args:
          batches_in_one: How many; if several, a remainder is kept.
        """
        options = self.options
        seeds = tf.data.Dataset.random(options.seed, rerandomize_each_iteration=True)
        if options.shuffle:
            epochs = seeds.take(options.num_epochs or -1)
        else:
            epochs = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64))
            epochs = epochs.repeat(options.num_epochs)
        if options.cache is None:
            rows = epochs.flat_map(lambda seed: self._shuffled(self._blocks(seed), seed))
        else:
            blocks = self._blocks(tf.constant(0, tf.int64)).cache()
            rows = epochs.flat_map(lambda seed: self._shuffled(blocks, seed))
        drop_remainder = options.drop_remainder and batches_in_one == 1
        return rows.rebatch(options.batch_size * batches_in_one, drop_remainder)

    def parsed(
        self,
        parse: Callable[[tf.Tensor], Any],
        explain: Callable[[bytes], bytes],
        can_be_cut: bool,
    ) -> tf.data.Dataset:
        """Returns the finished pipeline.

        Args:
          parse: Function of a vector of records to a batch.
          explain: Python function of one record to the text of what is wrong with it.
          can_be_cut: Whether a batch is the same if it is cut out of a larger one. Small batches
            are then parsed several at a time, since each parsing needs a guard of its own.
        """
        options, bad = self.options, self._bad
        batches_in_one = max(1, _PARSED // options.batch_size) if can_be_cut else 1

        def place(number: tf.Tensor) -> tf.Tensor:
            file = tf.gather(tf.constant(self.files), number // _MOST_RECORDS)
            return tf.strings.join(
                [file, ", record ", tf.strings.as_string(number % _MOST_RECORDS + 1), ": "]
            )

        def fault(record: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
            return place(number) + told(explain, record)

        def parse_one(record: tf.Tensor, _: tf.Tensor) -> Any:
            return parse(record[tf.newaxis])

        def parse_all(rows: tf.data.Dataset) -> tf.data.Dataset:
            drop_remainder = options.drop_remainder and not bad.are_skipped and batches_in_one == 1
            batch = rows.batch(options.batch_size * batches_in_one, drop_remainder)
            return batch.map(lambda records, _: parse(records))

        def load(records: tf.Tensor, numbers: tf.Tensor) -> tf.data.Dataset:
            whole = tf.data.Dataset.from_tensors((records, numbers))
            each = tf.data.Dataset.from_tensor_slices((records, numbers))
            quick = whole.map(lambda records, _: parse(records))
            return guarded(quick, each, parse_one, fault, parse_all, bad)

        calls = options.parallel_calls
        loaded = self.batches(batches_in_one).interleave(
            load, cycle_length=calls, num_parallel_calls=calls, deterministic=options.deterministic
        )
        if batches_in_one > 1:
            return options.finish(loaded.rebatch(options.batch_size, options.drop_remainder))
        return options.finish(full_batches(loaded, options, bad))

    def _blocks(self, seed: tf.Tensor) -> tf.data.Dataset:
        """Returns one epoch's (records, numbers), in blocks."""
        options = self.options
        numbered = list(enumerate(self.files))
        if self._by_file:
            numbered = numbered[options.pipeline :: options.pipelines]
        numbers = tf.constant([number for number, _ in numbered], tf.int64)
        if options.shuffle:
            order = tf.random.experimental.stateless_shuffle(
                tf.range(len(numbered)), tf.stack([seed, 1])
            )
            numbers = tf.gather(numbers, order)
        at_a_time = min(_FILES_AT_A_TIME, len(numbered))
        return tf.data.Dataset.from_tensor_slices(numbers).interleave(
            self._blocks_of_file,
            cycle_length=at_a_time,
            num_parallel_calls=min(at_a_time, options.parallel_calls),
            deterministic=options.deterministic,
        )

    def _blocks_of_file(self, number: tf.Tensor) -> tf.data.Dataset:
        options = self.options
        file = tf.gather(tf.constant(self.files), number)
        first = number * _MOST_RECORDS
        blocks = self._blocks_of(number, file).map(lambda rows, places: (rows, first + places))
        if self._by_file:
            return blocks

        def own(records: tf.Tensor, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            # `==` would compare the objects, in graphs of the first generation.
            mine = tf.equal(numbers % _MOST_RECORDS % options.pipelines, options.pipeline)
            return tf.boolean_mask(records, mine), tf.boolean_mask(numbers, mine)

        return blocks.map(own)

    def _shuffled(self, blocks: tf.data.Dataset, seed: tf.Tensor) -> tf.data.Dataset:
        options = self.options
        if not options.shuffle:
            return blocks

        def shuffle(count: tf.Tensor, rows: tuple[tf.Tensor, tf.Tensor]) -> Any:
            places = tf.range(tf.size(rows[0]))
            order = tf.random.experimental.stateless_shuffle(places, tf.stack([seed, count]))
            return tuple(tf.gather(part, order) for part in rows)

        size = options.buffer_size or SHUFFLED
        return blocks.rebatch(size).enumerate(2).map(lambda count, rows: shuffle(count, rows))


def numbered_blocks(records: tf.data.Dataset) -> tf.data.Dataset:
    """Returns (record vectors, their numbers from 0 on) of a dataset of scalar strings."""

    def number(count: tf.Tensor, block: tf.Tensor) -> Any:
        after = count + tf.size(block, tf.int64)
        return after, (block, tf.range(count, after))

    return records.batch(BLOCK).scan(tf.constant(0, tf.int64), number)


def without_empty(lines: tf.Tensor, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Leaves the empty lines of a block out."""
    there = tf.strings.length(lines) > 0
    return tf.boolean_mask(lines, there), tf.boolean_mask(numbers, there)
