"""TFRecord files of tf.train.Example."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import tensorflow as tf

from input_fns.pipeline.guard import BadRecords
from input_fns.pipeline.options import PipelineOptions
from input_fns.records.examples import explain
from input_fns.records.inflated import inflates_to
from input_fns.records.stream import BLOCK, BUFFER, Blocks, Stream, list_files

_FRAME = 16  # Bytes around each record: its length, and two checksums.
_COMPRESSIONS = ("", "GZIP", "ZLIB")


def tfrecords(
    file_pattern: Any,
    features: Mapping[str, Any],
    label: str | None = None,
    *,
    compression: str | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Gives the examples of TFRecord files in batches.

    Files are read by turns, a few at a time. Each epoch of a shuffle reads the files in a new
    order, and mixes the records of each stretch of `buffer_size` (10,000 by default).

    Args:
      file_pattern: Pattern of the files, or a list of patterns or files.
      features: What to parse: `tf.io.FixedLenFeature`, `VarLenFeature`, `RaggedFeature` and so on
        by name, as for `tf.io.parse_example`.
      label: Name of the feature that is the label; None gives features alone.
      compression: 'GZIP', 'ZLIB' or '' for none; None tells by the name of the first file, which
        ends in .gz or .zz.
      **settings: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of dicts of features, or of (features, label), in batches. A record that
      does not fit, or a file that was cut or changed, ends the iteration with a
      `tf.errors.InvalidArgumentError` that names file and record, or is left out.

    Raises:
      FileNotFoundError: No file matches.
      ValueError: A file is empty, the label is not among the features, or an argument is out of
        its range.
    """
    options = PipelineOptions.of(settings)
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
    stream = Stream(files, _checked_blocks(files, compression, bad), options, bad)
    return stream.parsed(
        parse,
        lambda record: explain(record, features),
        # Others are padded to the longest of their batch, or are not plain tensors.
        can_be_cut=all(isinstance(spec, tf.io.FixedLenFeature) for spec in features.values()),
    )


def _checked_blocks(files: list[str], compression: str, bad: BadRecords) -> Blocks:
    """Returns a function to a file's blocks of records, which notices if not all of it was read.

    TensorFlow's own error for a damaged file does not know its name.
    """
    lengths = [tf.io.gfile.stat(file).length for file in files]

    def read(number: tf.Tensor, file: tf.Tensor) -> tf.data.Dataset:
        length = tf.gather(tf.constant(lengths, tf.int64), number)

        def judge_end(count: tf.Tensor, read_up_to: tf.Tensor) -> tf.Tensor:
            if compression:
                whole = tf.numpy_function(
                    partial(inflates_to, compression), [file, read_up_to], tf.bool, stateful=False
                )
                fault = _damage(file, count, " from here")
            else:
                whole = read_up_to >= length
                start, end = tf.strings.as_string(read_up_to), tf.strings.as_string(length)
                fault = _damage(file, count, tf.strings.join([" from byte ", start, " of ", end]))
            return tf.cond(
                whole,
                lambda: tf.constant(0, tf.int64),
                lambda: tf.cast(bad.judge(fault), tf.int64),
            )

        def check(state: tuple[tf.Tensor, tf.Tensor], block: tf.Tensor) -> Any:
            count, read_up_to = state
            size = tf.size(block, tf.int64)
            judged = tf.cond(
                tf.equal(size, 0),  # The last block is empty.
                lambda: judge_end(count, read_up_to),
                lambda: tf.constant(0, tf.int64),
            )
            after = count + size + judged  # Which is 0.
            bytes_read = tf.reduce_sum(tf.strings.length(block)) + _FRAME * tf.size(block)
            state = (after, read_up_to + tf.cast(bytes_read, tf.int64))
            return state, (block, tf.range(count, after))

        zero = tf.constant(0, tf.int64)
        records = tf.data.TFRecordDataset(file, compression, buffer_size=BUFFER)
        blocks = records.ignore_errors().batch(BLOCK)
        end = tf.data.Dataset.from_tensors(tf.zeros([0], tf.string))
        numbered = blocks.concatenate(end).scan((zero, zero), check)
        return numbered.filter(lambda block, _: tf.size(block) > 0)

    return read


def _damage(file: tf.Tensor, count: tf.Tensor, place: Any) -> tf.Tensor:
    number = tf.strings.as_string(count + 1)
    text = " on: the file is cut short or damaged, or is not a TFRecord file; get a fresh copy"
    return tf.strings.join([file, ", record ", number, ": cannot be read", place, text])
