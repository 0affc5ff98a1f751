"""Pipeline for files of records: interleaves, shuffles, batches and then parses the records.

Blocks of records pass through the stages as vectors of strings, which is several times faster
than single records. Each record has a number that encodes its file and its position in the file,
so that an error can name it.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.batching import make_epochs, read_epochs
from input_fns.pipeline.guard import BadRecords, describe_in_python, guard_batch, refill_batches
from input_fns.pipeline.options import DEFAULT_SHUFFLE_ROWS, MEMORY

BYTE_ORDER_MARK = "\ufeff"  # Spreadsheets write it at the start of a text file.
BLOCK = 256
BUFFER = 1 << 20  # Bytes to read from a file at a time.
_PARSE_CHUNK = 512  # Minimum number of records to parse together.
FILES_AT_A_TIME = 4
# The number of a record is the number of its file times this, plus its position in the file.
MAX_RECORDS = 1 << 40

PathLike = str | os.PathLike[str]
FilePattern = PathLike | Sequence[PathLike]
Blocks = Callable[[tf.Tensor, tf.Tensor], tf.data.Dataset]


def list_files(file_pattern: FilePattern) -> list[str]:
    """Returns the files that match a pattern or a list of patterns, sorted for each pattern.

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
        found = sorted(tf.io.gfile.glob(checks.tensorflow_path("file_pattern", pattern)))
        if not found:
            raise FileNotFoundError(f"No file matches file_pattern {str(pattern)!r}.")
        files += found
    for file in files:
        if tf.io.gfile.isdir(file):
            raise ValueError(f"{file} is a folder: file_pattern must match files.")
        if tf.io.gfile.stat(file).length == 0:
            raise ValueError(f"{file} is empty: remove it, or get a fresh copy.")
    return files


def find_compression(file: str) -> str | None:
    """Returns the compression of a file by its first bytes; None if it has none that is known."""
    with tf.io.gfile.GFile(file, "rb") as opened:
        start = opened.read(8)
    known = {b"\x1f\x8b": "GZIP", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "ZIP"}
    known |= {b"BZh": "bzip2", b"\xfd7zX": "xz"}
    if start[4:] != bytes(4):  # Otherwise it is the length of the first TFRecord.
        known |= {b"\x78\x01": "ZLIB", b"\x78\x9c": "ZLIB", b"\x78\xda": "ZLIB"}
    return next((name for first, name in known.items() if start.startswith(first)), None)


class FileStream:
    """Source of the rows of some files.

    Args:
      files: The files.
      bad: Handler of bad records, which has the settings.
      first_line: Number of the line with the first record, if each record is one line of text.
    """

    def __init__(self, files: Sequence[str], bad: BadRecords, first_line: int | None) -> None:
        options = bad.options
        if options.cache not in (None, MEMORY):
            raise ValueError(
                f"cache={options.cache!r}: records of files are cached only in memory; only "
                "pictures can be cached in a file. Set cache='memory' or cache=None."
            )
        self.files, self.options = list(files), options
        self._bad = bad
        self._unit, self._first = ("record", 1) if first_line is None else ("line", first_line)
        # Pipelines share complete files if each gets the same number. Otherwise every pipeline
        # reads all files, and takes every n-th record.
        self._shards_files = len(self.files) % options.num_pipelines == 0

    def _read_file(self, number: tf.Tensor) -> tf.data.Dataset:
        """Returns blocks of the own rows of a file."""
        raise NotImplementedError

    def _describe(
        self, record: tf.Tensor, number: tf.Tensor, explain: Callable[[bytes], str]
    ) -> tf.Tensor:
        """Returns a message about a bad record."""
        file = tf.gather(tf.constant(self.files), number // MAX_RECORDS)
        position = tf.strings.as_string(number % MAX_RECORDS + self._first)
        place = tf.strings.join([file, f", {self._unit} ", position, ": "])
        return place + describe_in_python(explain, record)

    def _read_epoch(self, seed: tf.Tensor) -> tf.data.Dataset:
        """Returns blocks of the rows of an epoch."""
        options = self.options
        files = list(range(len(self.files)))
        if self._shards_files:
            files = files[options.pipeline_index :: options.num_pipelines]
        numbers = tf.constant(files, tf.int64)
        if options.shuffle:
            order = tf.random.experimental.stateless_shuffle(
                tf.range(len(files)), tf.stack([seed, 1])
            )
            numbers = tf.gather(numbers, order)
        at_a_time = min(FILES_AT_A_TIME, len(files))
        return tf.data.Dataset.from_tensor_slices(numbers).interleave(
            self._read_file,
            cycle_length=at_a_time,
            num_parallel_calls=min(at_a_time, options.parallel_calls),
            deterministic=options.deterministic,
        )

    def _read_epochs(
        self, epochs: tf.data.Dataset, read: Callable[[tf.Tensor], tf.data.Dataset]
    ) -> tf.data.Dataset:
        """Returns the rows of all epochs, whose position is one in these files."""
        window = self.options.buffer_size if self.options.shuffle else None
        lengths = [tf.io.gfile.stat(file).length for file in self.files]
        return read_epochs(epochs, [window, lengths], read)

    def _shuffle(self, blocks: tf.data.Dataset, seed: tf.Tensor) -> tf.data.Dataset:
        options = self.options
        if not options.shuffle:
            return blocks

        def shuffle(count: tf.Tensor, rows: Any) -> Any:
            positions = tf.range(tf.size(tf.nest.flatten(rows)[0]))
            order = tf.random.experimental.stateless_shuffle(positions, tf.stack([seed, count]))
            return tf.nest.map_structure(lambda part: tf.gather(part, order), rows)

        size = options.buffer_size or DEFAULT_SHUFFLE_ROWS
        return blocks.rebatch(size).enumerate(2).map(shuffle)


class Stream(FileStream):
    """Source of the records of some files.

    Args:
      files: The files.
      blocks: Function from the number and the name of a file to a dataset of (vector of records,
        vector of their positions in the file).
      bad: Handler of bad records, which has the settings.
      first_line: Number of the line with the first record, if each record is one line of text.
    """

    def __init__(
        self,
        files: Sequence[str],
        blocks: Blocks,
        bad: BadRecords,
        first_line: int | None = None,
    ) -> None:
        super().__init__(files, bad, first_line)
        self._read_blocks = blocks

    def batches(self, batches_in_one: int = 1) -> tf.data.Dataset:
        """Returns a dataset of (vector of records, vector of their numbers).

        Args:
          batches_in_one: Number of batches in each vector; above 1, a last smaller vector is kept.
        """
        options = self.options
        epochs = make_epochs(options)
        if options.cache is None:
            rows = self._read_epochs(
                epochs, lambda seed: self._shuffle(self._read_epoch(seed), seed)
            )
        else:
            blocks = self._read_epoch(tf.constant(0, tf.int64)).cache()
            rows = self._read_epochs(epochs, lambda seed: self._shuffle(blocks, seed))
        drop_remainder = options.drop_remainder and batches_in_one == 1
        return rows.rebatch(options.batch_size * batches_in_one, drop_remainder)

    def parse_batches(
        self,
        parse: Callable[[tf.Tensor], Any],
        explain: Callable[[bytes], str],
        is_divisible: bool,
    ) -> tf.data.Dataset:
        """Returns the complete pipeline.

        Args:
          parse: Function from a vector of records to a batch.
          explain: Python function that returns the reason why a record cannot be parsed.
          is_divisible: Whether parsing several batches together and cutting the result gives the
            same batches. Small batches are then parsed together, because each parsing needs a
            guard.
          chunk: Minimum number of records to parse together, if that is possible.
        """
        options, bad = self.options, self._bad
        batches_in_one = max(1, _PARSE_CHUNK // options.batch_size) if is_divisible else 1

        def describe(record: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
            return self._describe(record, number, explain)

        def parse_one(record: tf.Tensor, _: tf.Tensor) -> Any:
            return parse(record[tf.newaxis])

        def parse_all(rows: tf.data.Dataset) -> tf.data.Dataset:
            drop_remainder = options.drop_remainder and not bad.are_skipped and batches_in_one == 1
            batch = rows.batch(options.batch_size * batches_in_one, drop_remainder)
            return batch.map(lambda records, _: parse(records))

        def load(records: tf.Tensor, numbers: tf.Tensor) -> tf.data.Dataset:
            batch = tf.data.Dataset.from_tensors((records, numbers))
            each = tf.data.Dataset.from_tensor_slices((records, numbers))
            quick = batch.map(lambda records, _: parse(records))
            return guard_batch(quick, each, parse_one, describe, parse_all, bad)

        calls = options.parallel_calls
        loaded = self.batches(batches_in_one).interleave(
            load, cycle_length=calls, num_parallel_calls=calls, deterministic=options.deterministic
        )
        if batches_in_one > 1:
            return options.finish(loaded.rebatch(options.batch_size, options.drop_remainder))
        return options.finish(refill_batches(loaded, bad))

    def _read_file(self, number: tf.Tensor) -> tf.data.Dataset:
        options = self.options
        file = tf.gather(tf.constant(self.files), number)
        first = number * MAX_RECORDS
        blocks = self._read_blocks(number, file)
        blocks = blocks.map(lambda rows, positions: (rows, first + positions))
        if self._shards_files:
            return blocks

        def keep_own(records: tf.Tensor, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            # In TensorFlow 1 graphs `==` compares Python objects.
            is_own = tf.equal(numbers % MAX_RECORDS % options.num_pipelines, options.pipeline_index)
            return tf.boolean_mask(records, is_own), tf.boolean_mask(numbers, is_own)

        return blocks.map(keep_own)


def number_records(records: tf.data.Dataset) -> tf.data.Dataset:
    """Returns a dataset of (vector of records, their positions from 0) of scalar strings."""

    def number(count: tf.Tensor, block: tf.Tensor) -> Any:
        after = count + tf.size(block, tf.int64)
        return after, (block, tf.range(count, after))

    return records.batch(BLOCK).scan(tf.constant(0, tf.int64), number)


def clean_lines(lines: tf.Tensor, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Removes the empty lines of a block, and a byte order mark from the first block of a file."""

    def remove_mark() -> tf.Tensor:
        first = tf.strings.regex_replace(lines[:1], f"^{BYTE_ORDER_MARK}", "")
        return tf.concat([first, lines[1:]], axis=0)

    lines = tf.cond(tf.equal(numbers[0], 0), remove_mark, lambda: lines)
    has_text = tf.strings.length(lines) > 0
    return tf.boolean_mask(lines, has_text), tf.boolean_mask(numbers, has_text)
