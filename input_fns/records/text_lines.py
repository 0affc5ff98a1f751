"""Batches of lines of text, as strings or as word numbers."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions
from input_fns.records.stream import (
    BUFFER,
    BYTE_ORDER_MARK,
    FilePattern,
    Stream,
    clean_lines,
    list_files,
    number_records,
)

PADDING = 0


def text_lines(
    file_pattern: FilePattern,
    vocabulary: str | Sequence[str] | None = None,
    *,
    max_length: int | None = None,
    bucket_boundaries: Sequence[int] | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the lines of text files, without empty lines.

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      vocabulary: A file with one word in each line, or a list of words. The words of each line
        become numbers: 1 is the first word of the vocabulary, 0 is padding, and all unknown words
        get the number after the last word. None gives the lines as strings.
      max_length: Maximum number of words in a line; further words are dropped. None keeps all.
      bucket_boundaries: Increasing numbers of words: a batch contains only lines with lengths
        between the same two boundaries, which reduces padding.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts. Without a vocabulary: `text`, tf.string of shape (batch_size,).
      With a vocabulary: `tokens`, tf.int64 of shape (batch_size, words in the longest line), and
      `length`, the number of words in each line, tf.int64 of shape (batch_size,).

    Raises:
      FileNotFoundError: No file matches, or the vocabulary file does not exist.
      ValueError: A file is empty, a word is twice in the vocabulary, or an argument is out of
        range.
    """
    options = PipelineOptions.from_arguments(settings)
    checks.optional_integer("max_length", max_length, minimum=1)
    boundaries = list(bucket_boundaries or [])
    if boundaries != sorted(set(boundaries)) or any(limit < 1 for limit in boundaries):
        raise ValueError(f"bucket_boundaries must be 1 or more and increase, but are {boundaries}.")
    if vocabulary is None and (boundaries or max_length):
        raise ValueError("max_length and bucket_boundaries need a vocabulary, but it is None.")
    files = list_files(file_pattern)

    def blocks(_: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        return number_records(tf.data.TextLineDataset(file, buffer_size=BUFFER)).map(clean_lines)

    stream = Stream(files, blocks, BadRecords(options))
    if vocabulary is None:
        return options.finish(stream.batches().map(lambda lines, _: {"text": lines}))
    lookup = _make_lookup(vocabulary)

    def number_words(lines: tf.Tensor) -> tf.RaggedTensor:
        words = tf.strings.split(lines)
        words = words if max_length is None else words[:, :max_length]
        return words.with_values(lookup(words.values))

    def pad(lines: tf.Tensor, _: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = number_words(lines)
        return {"tokens": tokens.to_tensor(PADDING), "length": tokens.row_lengths()}

    if not boundaries:
        calls = options.parallel_calls
        return options.finish(stream.batches().map(pad, calls, deterministic=options.deterministic))
    rows = stream.batches().map(lambda lines, _: number_words(lines)).unbatch()
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


def _make_lookup(vocabulary: str | Sequence[str]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns the function from words to numbers.

    Raises:
      FileNotFoundError: The vocabulary file does not exist.
      ValueError: There are no words, or a word is there twice.
    """
    if isinstance(vocabulary, (list, tuple)):
        words, name = list(vocabulary), "vocabulary"
    else:
        name = checks.tensorflow_path("vocabulary", vocabulary)
        if not tf.io.gfile.exists(name):
            raise FileNotFoundError(f"There is no vocabulary file {name}.")
        with tf.io.gfile.GFile(name) as file:
            words = [line.rstrip("\r\n") for line in file]
        words[:1] = [word.removeprefix(BYTE_ORDER_MARK) for word in words[:1]]
    if not words:
        raise ValueError(f"{name} has no words.")
    if len(set(words)) != len(words):
        duplicate = next(word for word in words if words.count(word) > 1)
        raise ValueError(f"{name} has the word {duplicate!r} twice.")
    keys, numbers = tf.constant(words, tf.string), tf.range(1, len(words) + 1, dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, numbers)
    return tf.lookup.StaticHashTable(initializer, len(words) + 1).lookup
