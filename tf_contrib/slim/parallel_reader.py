"""`tf.contrib.slim.parallel_reader`: records of many files, read through queues."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_train = _v1.train


def get_data_files(data_sources: Any) -> list[str]:
    """Returns the files that match patterns.

    Args:
      data_sources: Path, pattern with `*`, `?` or `[`, or a list or tuple of them.

    Raises:
      ValueError: No file matches.
    """
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = tf.io.gfile.glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files


def single_pass_read(
    data_sources: str | Sequence[str],
    reader_class: type,
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> tuple[Any, Any]:
    """Reads all records once, in the order of the files; see `parallel_read`."""
    files = get_data_files(data_sources)
    with tf.name_scope(scope or "single_pass_read"):
        names = _train.string_input_producer(files, num_epochs=1, shuffle=False, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def parallel_read(
    data_sources: str | Sequence[str],
    reader_class: type,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> tuple[Any, Any]:
    """Reads keys and values of records with several readers.

    Args:
      data_sources: Files, as for `get_data_files`.
      reader_class: Class of the readers, for example tf.TFRecordReader.
      num_epochs: Number of times to read each file; None: no limit.
      num_readers: Number of readers.
      reader_kwargs: Arguments of each reader.
      shuffle: Whether to shuffle files and records.
      dtypes: Types of keys and values; strings by default.
      capacity: Capacity of the queue of records.
      min_after_dequeue: Minimum number of records in a shuffled queue.
      seed: Random seed of the shuffling.
      scope: Name scope of the operations.
    """
    files = get_data_files(data_sources)
    dtypes = dtypes or [tf.string, tf.string]
    with tf.name_scope(scope or "parallel_read"):
        names = _train.string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        if shuffle:
            queue = tf.queue.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, seed=seed)
        else:
            queue = tf.queue.FIFOQueue(capacity, dtypes)
        readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        enqueue_ops = [queue.enqueue(reader.read(names)) for reader in readers]
        _train.add_queue_runner(_train.QueueRunner(queue, enqueue_ops))
        return queue.dequeue()
