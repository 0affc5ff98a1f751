"""Records that cannot be read: named in an error, or left out and counted.

A guard around every record would cost as much as a small record itself. So a batch is loaded
without guards. If that fails, `ignore_errors` takes the batch out, and what is concatenated takes
its place: the same records once more, each with a guard.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline.options import SKIP, PipelineOptions

Load = Callable[..., Any]


class BadRecords:
    """What happens to bad records of one pipeline.

    In graph mode the number of those left out becomes a scalar summary, `input/skipped_records`.

    Args:
      options: The settings.
    """

    def __init__(self, options: PipelineOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._skipped = 0
        self.are_skipped = options.on_bad_record == SKIP
        if self.are_skipped and not tf.executing_eagerly():
            count = tf.numpy_function(lambda: np.int64(self._skipped), [], tf.int64)
            tf.compat.v1.summary.scalar("input/skipped_records", tf.ensure_shape(count, []))

    def judge(self, fault: tf.Tensor) -> tf.Tensor:
        """Whether to use a record that cannot be read: never.

        Args:
          fault: What is wrong, where, and what to do; a scalar string.

        Returns:
          A false scalar; or it fails with the fault.
        """
        if not self.are_skipped:
            with tf.control_dependencies([tf.debugging.Assert(False, [fault])]):
                return tf.constant(False)
        over_budget = tf.numpy_function(self._skip, [fault], tf.string, stateful=False)
        within = tf.equal(over_budget, "")
        with tf.control_dependencies([tf.debugging.Assert(within, [over_budget])]):
            return tf.strings.length(over_budget) > 0

    def _skip(self, fault: bytes) -> bytes:
        """Counts and notes a record; returns what is wrong if there are too many."""
        with self._lock:
            self._skipped += 1
            skipped, most = self._skipped, self.options.max_bad_records
            if self.options.bad_records_file is not None:
                # Each in one write, so that processes can share the file.
                with open(self.options.bad_records_file, "ab", buffering=0) as file:
                    file.write(fault.replace(b"\n", b" ") + b"\n")
        if most is None or skipped <= most:
            return b""
        text = f"{skipped} bad records are more than max_bad_records={most}; the last: "
        return text.encode() + fault


def told(function: Callable[..., bytes], *arguments: tf.Tensor) -> tf.Tensor:
    """The message of a Python function about a record, a scalar string."""
    text = tf.numpy_function(function, arguments, tf.string, stateful=False)
    return tf.ensure_shape(text, [])


def guarded(
    quick: tf.data.Dataset,
    records: tf.data.Dataset,
    load: Load,
    fault: Load,
    make_batch: Callable[[tf.data.Dataset], tf.data.Dataset],
    bad: BadRecords,
) -> tf.data.Dataset:
    """One batch: as it comes quickly, or, if that fails, of the records that can be loaded.

    Args:
      quick: A dataset with the batch as its only element, which fails if a record is bad.
      records: The records of the batch, one by one, tuples of tensors.
      load: Function of a record's parts that fails if it is bad, and else returns tensors.
      fault: Function of a bad record's parts to the text of what is wrong.
      make_batch: Makes a dataset with a batch as its only element of a dataset of good records.
      bad: What happens to bad records.

    Returns:
      A dataset with the batch, which is smaller or missing if records are left out.
    """

    def is_loaded(*parts: Any) -> tf.Tensor:
        # What is loaded must be looked at, or it would not be loaded.
        first = tf.nest.flatten(load(*parts), expand_composites=True)[0]
        return tf.strings.length(tf.io.serialize_tensor(first)) > 0

    def only_good(*parts: Any) -> tf.data.Dataset:
        record = tf.data.Dataset.from_tensors(parts)
        good = record.filter(is_loaded).ignore_errors()
        judged = record.filter(lambda *parts: bad.judge(fault(*parts)))
        return good.concatenate(judged).take(1)

    careful = make_batch(records.flat_map(only_good))
    return quick.ignore_errors().concatenate(careful).take(1)


def full_batches(
    batches: tf.data.Dataset, options: PipelineOptions, bad: BadRecords
) -> tf.data.Dataset:
    """Fills batches up that have become smaller, where records are left out."""
    if not bad.are_skipped:
        return batches
    specs = tf.nest.flatten(batches.element_spec)
    if all(isinstance(spec, tf.TensorSpec) for spec in specs):
        return batches.rebatch(options.batch_size, options.drop_remainder)
    return batches.unbatch().batch(options.batch_size, options.drop_remainder)
