"""Pipeline for text files whose lines are parsed by the block.

A block of lines is one string from the file to the parser. Splitting it into a tensor of lines
would take longer than parsing it.
"""

import collections
import dataclasses
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from input_fns.pipeline.batching import make_epochs
from input_fns.pipeline.guard import BadRecords, guard_batch
from input_fns.pipeline.options import DEFAULT_SHUFFLE_ROWS, PipelineOptions
from input_fns.pipeline.process_end import is_program_running, stop_at_exit
from input_fns.records.stream import BYTE_ORDER_MARK, FILES_AT_A_TIME, MAX_RECORDS, FileStream

_BLOCK_ROWS = 4096
_MAX_BLOCK_BYTES = 4 << 20
_MAX_OPEN_FILES = 8  # Two iterators of a dataset may read in turns, each several files.
_MAX_WAITING_TEXTS = 32


class TextParser(Protocol):
    """Parser of lines.

    Attributes:
      dtypes: Types of its arrays and tensors.
    """

    dtypes: list[tf.DType]

    def parse_text(self, text: bytes) -> list[np.ndarray] | None:
        """Returns the columns of the lines of a text that are not empty; None if it cannot."""

    def decode_lines(self, lines: tf.Tensor) -> list[tf.Tensor]:
        """Returns the columns of a vector of lines; fails if one cannot be parsed."""

    def explain(self, line: bytes) -> str:
        """Returns the reason why a line cannot be parsed."""


@dataclasses.dataclass
class _OpenFile:
    """File and the start of a line that was read already."""

    file: tf.io.gfile.GFile
    rest: bytes = b""


class TextBlockReader:
    """Reader of blocks of complete lines.

    Its methods give the same for the same arguments, and are fast for consecutive blocks.

    Args:
      has_header: Whether the first line of each file is left out.
      block_bytes: Approximate size of a block.
      index: Number of the first line to return.
      step: Distance to the next line to return.
    """

    def __init__(self, has_header: bool, block_bytes: int, index: int, step: int) -> None:
        self._has_header, self._block_bytes = has_header, block_bytes
        self._index, self._step = index, step
        self._lock = threading.Lock()
        self._open_files: collections.OrderedDict[tuple[bytes, int], _OpenFile]
        self._open_files = collections.OrderedDict()
        self._texts: collections.OrderedDict[tuple[bytes, int], bytes] = collections.OrderedDict()

    def find_end(self, file: bytes, offset: np.int64, line: np.int64) -> list[np.ndarray]:
        """Returns offset and line of the next block; at the end of the file, the same offset.

        Args:
          file: The file.
          offset: Position of the block in the file, in bytes.
          line: Number of its first line, from 0 for the first line after the header.
        """
        text, end = self._read_block(file, int(offset))
        with self._lock:
            self._texts[file, int(offset)] = text
            while len(self._texts) > _MAX_WAITING_TEXTS:
                self._texts.popitem(last=False)
        count = np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        count += text[-1:] not in (b"", b"\n")
        return [np.array(end, np.int64), np.array(line + count, np.int64)]

    def take_text(self, file: bytes, offset: np.int64, line: np.int64) -> bytes:
        """Returns the own lines of a block."""
        with self._lock:
            text = self._texts.pop((file, int(offset)), None)
        if text is None:
            text, _ = self._read_block(file, int(offset))
        if self._step > 1:
            first = (self._index - int(line)) % self._step
            text = b"\n".join(text.split(b"\n")[first :: self._step])
        return text

    def _read_block(self, file: bytes, offset: int) -> tuple[bytes, int]:
        with self._lock:
            opened = self._open_files.pop((file, offset), None)
        if opened is None:
            opened = _OpenFile(tf.io.gfile.GFile(file, "rb"))
            opened.file.seek(offset)
        text = self._read_lines(opened)
        end = offset + len(text)
        if text:
            with self._lock:
                self._open_files[file, end] = opened
                while len(self._open_files) > _MAX_OPEN_FILES:
                    self._open_files.popitem(last=False)
        if offset == 0:
            text = text.removeprefix(BYTE_ORDER_MARK.encode())
            text = text.partition(b"\n")[2] if self._has_header else text
        return text.replace(b"\r", b""), end  # TensorFlow's reader of lines drops \r too.

    def _read_lines(self, opened: _OpenFile) -> bytes:
        """Returns the complete lines in the next bytes, or a longer line."""
        text, size = opened.rest, self._block_bytes
        while True:
            data = opened.file.read(size - len(text))
            text += data
            end = text.rfind(b"\n") + 1
            if end or not data:
                break
            size += self._block_bytes
        end = end if data else len(text)
        opened.rest = text[end:]
        return text[:end]


class TextBlockStream(FileStream):
    """Source of the columns of text files.

    Args:
      files: The files.
      parser: The parser of lines.
      has_header: Whether the first line of each file is left out.
      row_bytes: Approximate size of a line.
      bad: Handler of bad records, which has the settings.
    """

    def __init__(
        self,
        files: Sequence[str],
        parser: TextParser,
        has_header: bool,
        row_bytes: float,
        bad: BadRecords,
    ) -> None:
        super().__init__(files, bad, first_line=2 if has_header else 1)
        options = bad.options
        self._parser = parser
        self._index, self._step = 0, 1
        if not self._shards_files:
            self._index, self._step = options.pipeline_index, options.num_pipelines
        size = min(int(_count_rows(options, len(files)) * row_bytes), _MAX_BLOCK_BYTES)
        self._reader = TextBlockReader(has_header, max(1, size), self._index, self._step)

    def parse_columns(self, make_batch: Callable[[list[tf.Tensor]], Any]) -> tf.data.Dataset:
        """Returns the complete pipeline.

        Args:
          make_batch: Function from columns to a batch.
        """
        options = self.options

        def load_all(blocks: tf.data.Dataset) -> tf.data.Dataset:
            calls = options.parallel_calls
            return blocks.interleave(
                functools.partial(self._load, make_batch),
                cycle_length=calls,
                num_parallel_calls=calls,
                deterministic=options.deterministic,
            )

        # The end of the program ends the input: a file without blocks would be read again.
        epochs = make_epochs(options).take_while(is_program_running)
        if options.cache is not None:
            rows = load_all(self._read_epoch(tf.constant(0, tf.int64))).cache()
            rows = self._read_epochs(epochs, lambda seed: self._shuffle(rows, seed))
        elif options.shuffle:
            rows = self._read_epochs(
                epochs, lambda seed: self._shuffle(load_all(self._read_epoch(seed)), seed)
            )
        else:
            rows = load_all(self._read_epochs(epochs, self._read_epoch))
        return options.finish(rows.rebatch(options.batch_size, options.drop_remainder))

    def _read_file(self, number: tf.Tensor) -> tf.data.Dataset:
        """Returns the number of a file, and the offset and first line of each of its blocks."""
        file = tf.gather(tf.constant(self.files), number)
        find_end = stop_at_exit(self._reader.find_end, lambda: [np.array(0, np.int64)] * 2)

        def read(state: tuple[tf.Tensor, tf.Tensor], _: tf.Tensor) -> Any:
            offset, line = state
            end, next_line = tf.numpy_function(
                find_end, [file, offset, line], [tf.int64, tf.int64], stateful=False
            )
            end, next_line = tf.ensure_shape(end, []), tf.ensure_shape(next_line, [])
            return (end, next_line), (number, offset, line, end)

        zero = tf.constant(0, tf.int64)
        blocks = tf.data.Dataset.counter().scan((zero, zero), read)
        blocks = blocks.take_while(lambda number, offset, line, end: end > offset)
        return blocks.map(lambda number, offset, line, end: (number, offset, line))

    def _load(
        self,
        make_batch: Callable[[list[tf.Tensor]], Any],
        number: tf.Tensor,
        offset: tf.Tensor,
        line: tf.Tensor,
    ) -> tf.data.Dataset:
        """Returns the rows of a block."""
        block = tf.data.Dataset.from_tensors((number, offset, line))

        def parse_block(*place: tf.Tensor) -> Any:
            text, *values = self._parse(*place)
            for value in values:
                value.set_shape([None])
            text.set_shape([])
            is_parsed = tf.equal(text, "")
            decode = self._parser.decode_lines
            return make_batch(tf.cond(is_parsed, lambda: values, lambda: decode(_split(text)[0])))

        def parse_lines(lines: tf.Tensor) -> Any:
            return make_batch(self._parser.decode_lines(lines))

        def list_lines(number: tf.Tensor, offset: tf.Tensor, line: tf.Tensor) -> tf.data.Dataset:
            lines, positions = _split(self._take_text(number, offset, line))
            first = number * MAX_RECORDS + line + (self._index - line) % self._step
            return tf.data.Dataset.from_tensor_slices((lines, first + self._step * positions))

        return guard_batch(
            block.map(parse_block),
            block.flat_map(list_lines),
            lambda line, _: parse_lines(line[tf.newaxis]),
            lambda line, number: self._describe(line, number, self._parser.explain),
            lambda lines: lines.batch(MAX_RECORDS).map(lambda records, _: parse_lines(records)),
            self._bad,
        )

    def _parse(self, number: tf.Tensor, offset: tf.Tensor, line: tf.Tensor) -> list[tf.Tensor]:
        """Returns the text of a block and no rows, or an empty text and the columns."""
        dtypes = self._parser.dtypes

        def make_empty(text: bytes = b"") -> list[np.ndarray]:
            return [np.array(text, object), *(np.zeros([0], d.as_numpy_dtype) for d in dtypes)]

        def parse(*place: Any) -> list[np.ndarray]:
            text = self._reader.take_text(*place)
            values = self._parser.parse_text(text)
            return make_empty(text) if values is None else [np.array(b"", object), *values]

        file = tf.gather(tf.constant(self.files), number)
        return tf.numpy_function(
            stop_at_exit(parse, make_empty), [file, offset, line], [tf.string, *dtypes], False
        )

    def _take_text(self, number: tf.Tensor, offset: tf.Tensor, line: tf.Tensor) -> tf.Tensor:
        def take(*place: Any) -> list[np.ndarray]:
            return [np.array(self._reader.take_text(*place), object)]

        file = tf.gather(tf.constant(self.files), number)
        take = stop_at_exit(take, lambda: [np.array(b"", object)])
        return tf.ensure_shape(
            tf.numpy_function(take, [file, offset, line], [tf.string], False)[0], []
        )


def _split(text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the lines of a text that are not empty, and their positions."""
    lines = tf.strings.split(text, "\n")
    numbers = tf.boolean_mask(tf.range(tf.size(lines, tf.int64)), tf.strings.length(lines) > 0)
    return tf.gather(lines, numbers), numbers


def _count_rows(options: PipelineOptions, num_files: int) -> int:
    """Returns the number of lines of a block."""
    if not options.shuffle:
        return _BLOCK_ROWS
    # Two blocks of each of the files that are read at a time fit into the shuffled window.
    window = options.buffer_size or DEFAULT_SHUFFLE_ROWS
    return min(_BLOCK_ROWS, max(256, window // (2 * min(FILES_AT_A_TIME, num_files))))
