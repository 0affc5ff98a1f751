"""Batches of the examples of TFRecord files."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import tensorflow as tf

from input_fns.pipeline.guard import BadRecords, describe_in_python
from input_fns.pipeline.options import PipelineOptions
from input_fns.records.examples import explain
from input_fns.records.inflated import has_inflated_length
from input_fns.records.stream import (
    BLOCK,
    BUFFER,
    Blocks,
    FilePattern,
    Stream,
    find_compression,
    list_files,
)

_FRAME_BYTES = 16  # A record's length and two checksums.
_COMPRESSIONS = ("", "GZIP", "ZLIB")


def tfrecords(
    file_pattern: FilePattern,
    features: Mapping[str, Any],
    label: str | None = None,
    *,
    compression: str | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the examples of TFRecord files.

    A few files are read in turns. With `shuffle`, each epoch reads the files in a new order, and
    shuffles every `buffer_size` consecutive records (10,000 by default).

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      features: Maps names to `tf.io.FixedLenFeature`, `VarLenFeature`, `RaggedFeature` and so on,
        as for `tf.io.parse_example`.
      label: Name of the label feature; None gives features without labels.
      compression: 'GZIP', 'ZLIB' or '' for none; None chooses by the extension of the first file,
        .gz or .zz.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of dicts of features, or of (features, label), in batches. For a record
      that does not match the features, or a damaged file, the iteration raises a
      `tf.errors.InvalidArgumentError` that names file and record, or skips it.

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is empty, the label is not among the features, or an argument is out of
        range.
    """
    options = PipelineOptions.from_arguments(settings)
    features = dict(features)
    if not features:
        raise ValueError("features must name at least one feature, but it is empty.")
    if label is not None and label not in features:
        raise ValueError(f"label {label!r} is not among the features: {', '.join(features)}.")
    files = list_files(file_pattern)
    if compression is None:
        compression = {".gz": "GZIP", ".zz": "ZLIB"}.get(files[0][-3:], "")
    if compression not in _COMPRESSIONS:
        raise ValueError(f"compression must be one of {_COMPRESSIONS}, but got {compression!r}.")

    def parse(records: tf.Tensor) -> Any:
        parsed = tf.io.parse_example(records, features)
        return parsed if label is None else (parsed, parsed.pop(label))

    bad = BadRecords(options)
    stream = Stream(files, _make_checked_blocks(files, compression, bad), bad)
    return stream.parse_batches(
        parse,
        lambda record: explain(record, features),
        # Other features are padded to the longest of their batch, or are not dense tensors.
        is_divisible=all(isinstance(spec, tf.io.FixedLenFeature) for spec in features.values()),
    )


def _make_checked_blocks(files: list[str], compression: str, bad: BadRecords) -> Blocks:
    """Returns a function that reads blocks of records and checks that it reached the end.

    TensorFlow's error about a damaged file does not name the file.
    """
    lengths = [tf.io.gfile.stat(file).length for file in files]

    def read(number: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        length = tf.gather(tf.constant(lengths, tf.int64), number)

        def check_end(count: tf.Tensor, read_bytes: tf.Tensor) -> tf.Tensor:
            """Returns 0 after handling a file whose end was not read."""
            if compression:
                has_length = partial(has_inflated_length, compression)
                is_complete = tf.numpy_function(
                    has_length, [file, read_bytes], tf.bool, stateful=False
                )
                message = _describe_damage(file, count, " from here", compression)
            else:
                is_complete = read_bytes >= length
                start, end = tf.strings.as_string(read_bytes), tf.strings.as_string(length)
                place = tf.strings.join([" from byte ", start, " of ", end])
                message = _describe_damage(file, count, place, compression)
            return tf.cond(
                is_complete,
                lambda: tf.constant(0, tf.int64),
                lambda: tf.cast(bad.skip_or_raise(message), tf.int64),
            )

        def check(state: tuple[tf.Tensor, tf.Tensor], block: tf.Tensor) -> Any:
            count, read_bytes = state
            size = tf.size(block, tf.int64)
            zero_after_check = tf.cond(
                tf.equal(size, 0),  # The last block is empty.
                lambda: check_end(count, read_bytes),
                lambda: tf.constant(0, tf.int64),
            )
            # Adding the zero makes TensorFlow run the check.
            after = count + size + zero_after_check
            block_bytes = tf.reduce_sum(tf.strings.length(block)) + _FRAME_BYTES * tf.size(block)
            state = (after, read_bytes + tf.cast(block_bytes, tf.int64))
            return state, (block, tf.range(count, after))

        zero = tf.constant(0, tf.int64)
        records = tf.data.TFRecordDataset(file, compression, buffer_size=BUFFER)
        blocks = records.ignore_errors().batch(BLOCK)
        end = tf.data.Dataset.from_tensors(tf.zeros([0], tf.string))
        numbered = blocks.concatenate(end).scan((zero, zero), check)
        return numbered.filter(lambda block, _: tf.size(block) > 0)

    return read


def _describe_damage(
    file: tf.Tensor, count: tf.Tensor, place: str | tf.Tensor, compression: str
) -> tf.Tensor:
    number = tf.strings.as_string(count + 1)

    def explain(path: bytes) -> str:
        found = find_compression(path.decode()) or ""
        if found == compression:
            return "the file is cut short or damaged, or is not a TFRecord file; get a fresh copy"
        if found in _COMPRESSIONS:
            return (
                f"the file looks like one of compression={found!r}, but compression is "
                f"{compression!r}. All files must have the same"
            )
        return f"the file is compressed ({found}); decompress it, or use GZIP"

    reason = describe_in_python(explain, file)
    return tf.strings.join([file, ", record ", number, ": cannot be read", place, " on: ", reason])
