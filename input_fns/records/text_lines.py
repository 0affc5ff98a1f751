"""Lines of text, as they are or as numbers of words."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions
from input_fns.records.stream import BUFFER, Stream, list_files, numbered_blocks, without_empty

PADDING = 0


def text_lines(
    file_pattern: Any,
    vocabulary: str | Sequence[str] | None = None,
    *,
    max_length: int | None = None,
    bucket_boundaries: Sequence[int] | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Gives the lines of text files in batches, empty ones left out.

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      vocabulary: A file with a word in each line, or the words: lines become numbers of words. The
        first word is 1, 0 is padding, and unknown words share the number after the last. None
        gives the lines themselves.
      max_length: Words of a line that are kept; None keeps all.
      bucket_boundaries: Numbers of words, in rising order: only lines between the same two of them
        share a batch, so that less of it is padding.
      **settings: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of dicts: `text`, tf.string of shape (batch_size,); or `tokens`, tf.int64
      of shape (batch_size, words of the longest line), and `length`, tf.int64 of shape
      (batch_size,), the words of each line.

    Raises:
      FileNotFoundError: No file matches, or there is no vocabulary file.
      ValueError: A file is empty, a word is in the vocabulary twice, or an argument is out of
        its range.
    """
    options = PipelineOptions.of(settings)
    checks.optional_integer("max_length", max_length, minimum=1)
    boundaries = list(bucket_boundaries or [])
    if boundaries != sorted(set(boundaries)) or any(limit < 1 for limit in boundaries):
        raise ValueError(f"bucket_boundaries must be 1 or more and increase, but are {boundaries}.")
    if vocabulary is None and (boundaries or max_length):
        raise ValueError("max_length and bucket_boundaries are of words: give a vocabulary.")
    files = list_files(file_pattern)

    def blocks(_: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        return numbered_blocks(tf.data.TextLineDataset(file, buffer_size=BUFFER)).map(without_empty)

    stream = Stream(files, blocks, options, BadRecords(options))
    if vocabulary is None:
        return options.finish(stream.batches().map(lambda lines, _: {"text": lines}))
    lookup = _lookup(vocabulary)

    def numbers(lines: tf.Tensor) -> tf.RaggedTensor:
        words = tf.strings.split(lines)
        words = words if max_length is None else words[:, :max_length]
        return words.with_values(lookup(words.values))

    def padded(lines: tf.Tensor, _: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = numbers(lines)
        return {"tokens": tokens.to_tensor(PADDING), "length": tokens.row_lengths()}

    if not boundaries:
        calls = options.parallel_calls
        return options.finish(
            stream.batches().map(padded, calls, deterministic=options.deterministic)
        )
    rows = stream.batches().map(lambda lines, _: numbers(lines)).unbatch()
    rows = rows.map(lambda row: {"tokens": row, "length": tf.size(row, tf.int64)})
    return options.finish(
        rows.bucket_by_sequence_length(
            lambda row: tf.cast(row["length"], tf.int32),
            boundaries,
            [options.batch_size] * (len(boundaries) + 1),
            padded_shapes={"tokens": [None], "length": []},
            drop_remainder=options.drop_remainder,
        )
    )


def _lookup(vocabulary: Any) -> Any:
    """Returns the function from words to numbers.

    Raises:
      FileNotFoundError: The file does not exist.
      ValueError: There are no words, or one comes twice.
    """
    if isinstance(vocabulary, (list, tuple)):
        words, name = list(vocabulary), "vocabulary"
    else:
        name = checks.path("vocabulary", vocabulary)
        if not tf.io.gfile.exists(name):
            raise FileNotFoundError(f"There is no vocabulary file {name}.")
        with tf.io.gfile.GFile(name) as file:
            words = [line.rstrip("\r\n") for line in file]
    if not words:
        raise ValueError(f"{name} has no words.")
    if len(set(words)) != len(words):
        twice = next(word for word in words if words.count(word) > 1)
        raise ValueError(f"{name} has the word {twice!r} twice.")
    keys, numbers = tf.constant(words, tf.string), tf.range(1, len(words) + 1, dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, numbers)
    return tf.lookup.StaticHashTable(initializer, len(words) + 1).lookup
