"""Handling of records that cannot be read: an error names them, or they are skipped and counted.

Checking every record costs as much as loading a small record, so a batch is first loaded without
checks. If that fails, `ignore_errors` drops the batch, and the concatenated dataset loads the same
records again, with a check of each.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline.options import SKIP, PipelineOptions

Load = Callable[..., Any]


class BadRecords:
    """Counter of the bad records of one pipeline, which are skipped or raise an error.

    In graph mode a scalar summary, `input/skipped_records`, shows the number of skipped records.

    Args:
      options: The settings of the pipeline.
    """

    def __init__(self, options: PipelineOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._skipped = 0
        self.are_skipped = options.on_bad_record == SKIP
        if self.are_skipped and not tf.executing_eagerly():
            count = tf.numpy_function(lambda: np.int64(self._skipped), [], tf.int64)
            tf.compat.v1.summary.scalar("input/skipped_records", tf.ensure_shape(count, []))

    def skip_or_raise(self, fault: tf.Tensor) -> tf.Tensor:
        """Skips a bad record, or fails if bad records are errors or there are too many.

        Args:
          fault: Scalar string that says which record is bad, why, and what to do.

        Returns:
          A false scalar, for `Dataset.filter`.
        """
        if not self.are_skipped:
            with tf.control_dependencies([tf.debugging.Assert(False, [fault])]):
                return tf.constant(False)
        error = tf.numpy_function(self.count_skipped, [fault], tf.string, stateful=False)
        is_allowed = tf.equal(error, "")
        with tf.control_dependencies([tf.debugging.Assert(is_allowed, [error])]):
            return tf.strings.length(error) > 0

    def count_skipped(self, fault: bytes) -> bytes:
        """Counts and logs a skipped record; returns an error message, or b"" if it is allowed."""
        with self._lock:
            self._skipped += 1
            skipped, maximum = self._skipped, self.options.max_bad_records
            if self.options.bad_records_file is not None:
                # One unbuffered write for each line, so that processes can share the file.
                with open(self.options.bad_records_file, "ab", buffering=0) as file:
                    file.write(fault.replace(b"\n", b" ") + b"\n")
        if maximum is None or skipped <= maximum:
            return b""
        text = f"{skipped} bad records are more than max_bad_records={maximum}; the last: "
        return text.encode() + fault


def describe_in_python(function: Callable[..., str], *arguments: tf.Tensor) -> tf.Tensor:
    """Returns a scalar string: the message of a Python function about a record."""
    text = tf.numpy_function(function, arguments, tf.string, stateful=False)
    return tf.ensure_shape(text, [])


def guard_batch(
    quick: tf.data.Dataset,
    records: tf.data.Dataset,
    load: Load,
    describe: Load,
    make_batch: Callable[[tf.data.Dataset], tf.data.Dataset],
    bad: BadRecords,
) -> tf.data.Dataset:
    """Returns a batch, without its bad records if they are skipped.

    Args:
      quick: Dataset with the batch as its only element; it fails if a record is bad.
      records: Dataset of the single records of the batch, as tuples of tensors.
      load: Function from the parts of a record to tensors; it fails if the record is bad.
      describe: Function from the parts of a bad record to a string with the reason.
      make_batch: Function from a dataset of good records to a dataset with the batch as its only
        element.
      bad: Handler of bad records.

    Returns:
      A dataset with the batch, which is smaller or missing if records were skipped.
    """

    def is_loadable(*parts: Any) -> tf.Tensor:
        # The result depends on the loaded tensor: otherwise TensorFlow would not load it.
        first = tf.nest.flatten(load(*parts), expand_composites=True)[0]
        return tf.strings.length(tf.io.serialize_tensor(first)) > 0

    def keep_if_good(*parts: Any) -> tf.data.Dataset:
        record = tf.data.Dataset.from_tensors(parts)
        good = record.filter(is_loadable).ignore_errors()
        skipped = record.filter(lambda *parts: bad.skip_or_raise(describe(*parts)))
        return good.concatenate(skipped).take(1)

    checked = make_batch(records.flat_map(keep_if_good))
    return quick.ignore_errors().concatenate(checked).take(1)


def refill_batches(batches: tf.data.Dataset, bad: BadRecords) -> tf.data.Dataset:
    """Fills batches to their full size again if bad records are skipped."""
    if not bad.are_skipped:
        return batches
    options, specs = bad.options, tf.nest.flatten(batches.element_spec)
    if all(isinstance(spec, tf.TensorSpec) for spec in specs):
        return batches.rebatch(options.batch_size, options.drop_remainder)
    return batches.unbatch().batch(options.batch_size, options.drop_remainder)
