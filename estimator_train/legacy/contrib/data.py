"""Stand-in for `tf.contrib.data`: today's transformations under their old names."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.legacy.contrib._types import Nest

_experimental = tf.compat.v1.data.experimental
Transformation = Callable[[tf.data.Dataset], tf.data.Dataset]

AUTOTUNE = tf.data.experimental.AUTOTUNE
Counter = _experimental.Counter
CsvDataset = _experimental.CsvDataset
RandomDataset = _experimental.RandomDataset
SqlDataset = _experimental.SqlDataset
OptionalStructure = tf.OptionalSpec
Optional = _experimental.Optional
Reducer = _experimental.Reducer
TFRecordWriter = _experimental.TFRecordWriter
bucket_by_sequence_length = _experimental.bucket_by_sequence_length
choose_from_datasets = _experimental.choose_from_datasets
copy_to_device = _experimental.copy_to_device
dense_to_sparse_batch = _experimental.dense_to_sparse_batch
enumerate_dataset = _experimental.enumerate_dataset
get_next_as_optional = _experimental.get_next_as_optional
get_single_element = _experimental.get_single_element
group_by_reducer = _experimental.group_by_reducer
ignore_errors = _experimental.ignore_errors
make_batched_features_dataset = _experimental.make_batched_features_dataset
make_csv_dataset = _experimental.make_csv_dataset
make_saveable_from_iterator = _experimental.make_saveable_from_iterator
map_and_batch = _experimental.map_and_batch
parallel_interleave = _experimental.parallel_interleave
parse_example_dataset = _experimental.parse_example_dataset
prefetch_to_device = _experimental.prefetch_to_device
rejection_resample = _experimental.rejection_resample
sample_from_datasets = _experimental.sample_from_datasets
scan = _experimental.scan
shuffle_and_repeat = _experimental.shuffle_and_repeat
unbatch = _experimental.unbatch
unique = _experimental.unique
Dataset = tf.compat.v1.data.Dataset
FixedLengthRecordDataset = tf.compat.v1.data.FixedLengthRecordDataset
Iterator = tf.compat.v1.data.Iterator
TextLineDataset = tf.compat.v1.data.TextLineDataset
TFRecordDataset = tf.compat.v1.data.TFRecordDataset


def group_by_window(
    key_func: Callable[..., tf.Tensor],
    reduce_func: Callable[..., Any],
    window_size: int | tf.Tensor | None = None,
    window_size_func: Callable[[tf.Tensor], tf.Tensor] | None = None,
) -> Transformation:
    """See `tf.data.Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def batch_and_drop_remainder(batch_size: int | tf.Tensor) -> Transformation:
    """Returns a transformation that batches elements and drops the last batch if it is smaller."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: int | tf.Tensor, padded_shapes: Nest, padding_values: Nest | None = None
) -> Transformation:
    """Returns a transformation that batches padded elements and drops a smaller last batch.

    Arguments are those of `tf.data.Dataset.padded_batch`.
    """
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(
    window_size: int,
    stride: int | None = None,
    window_shift: int | None = None,
    window_stride: int = 1,
) -> Transformation:
    """Returns a transformation that batches overlapping windows of elements.

    Args:
      window_size: Number of elements in a window.
      stride: Older name of window_shift.
      window_shift: Number of elements between the starts of two windows; 1 by default.
      window_stride: Number of elements between neighbours in a window.

    Raises:
      ValueError: Both stride and window_shift are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("stride is the older name of window_shift: give window_shift alone.")
    shift = next((step for step in (window_shift, stride) if step is not None), 1)

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        is_tuple = isinstance(tf.compat.v1.data.get_output_types(dataset), tuple)

        def batches(*windows: Any) -> tf.data.Dataset:
            parts = windows if is_tuple else windows[0]
            batched = tf.nest.map_structure(lambda window: window.batch(window_size), parts)
            return tf.data.Dataset.zip(batched)

        return dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(
            batches
        )

    return apply


def sloppy_interleave(
    map_func: Callable[..., tf.data.Dataset], cycle_length: int, block_length: int = 1
) -> Transformation:
    """Returns a `parallel_interleave` whose elements come in any order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def reduce_dataset(dataset: tf.data.Dataset, reducer: tf.data.experimental.Reducer) -> Nest:
    """Returns the result of a reducer over all elements of a dataset."""
    first = reducer.init_func(np.int64(0))
    return reducer.finalize_func(dataset.reduce(first, reducer.reduce_func))


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., tf.data.Dataset] = TFRecordDataset,
    reader_args: Sequence[Any] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> dict[str, tf.Tensor | tf.SparseTensor]:
    """Returns the next batch of parsed examples; see `make_batched_features_dataset`."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
