"""Batches of parsed features, which queues read from files of examples."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from tf_contrib.learn.learn_io.graph_io import (
    ParseFn,
    Reader,
    read_keyed_batch_examples,
)

_v1 = tf.compat.v1
Parsed: TypeAlias = dict[str, tf.Tensor | tf.SparseTensor]


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> Parsed:
    """Returns batches of parsed features; see `read_keyed_batch_features`."""
    return read_keyed_batch_features(**locals())[1]


def read_batch_record_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> Parsed:
    """Returns batches of the features of TFRecord files; see `read_keyed_batch_features`."""
    return read_batch_features(reader=_v1.TFRecordReader, **locals())


def read_keyed_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[tf.Tensor, Parsed]:
    """Reads batches of examples and parses them in the threads of a second queue.

    Args:
      file_pattern: See `read_keyed_batch_examples`, as for the arguments not described here.
      batch_size: Number of examples in a batch.
      features: Features by name, as for `tf.io.parse_example`.
      reader: Function without arguments that returns a reader.
      randomize_input: Whether to shuffle files and examples.
      num_epochs: Number of times that each file is read; None: no limit.
      queue_capacity: Capacity of the queue of serialized examples.
      reader_num_threads: Number of readers.
      feature_queue_capacity: Capacity of the queue of parsed batches.
      num_enqueue_threads: Number of threads that parse batches.
      parse_fn: Function of serialized examples.
      name: Name scope of the operations.
      read_batch_size: Number of examples that are read at once; batch_size by default.

    Returns:
      The keys of a batch, and its features by name.
    """
    with _v1.name_scope(name, "read_batch_features") as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input=randomize_input,
            num_epochs=num_epochs,
            queue_capacity=queue_capacity,
            num_threads=reader_num_threads,
            read_batch_size=batch_size if read_batch_size is None else read_batch_size,
            parse_fn=parse_fn,
            name=scope,
        )
        parsed = _v1.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_enqueue_threads, scope
        )


def read_keyed_batch_features_shared_queue(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, Parsed]:
    """Reads batches of features; each process has its own queue of files here.

    Arguments and result are those of `read_keyed_batch_features`.
    """
    arguments = dict(locals())
    return read_keyed_batch_features(
        num_enqueue_threads=arguments.pop("num_queue_runners"), **arguments
    )


def queue_parsed_features(
    parsed_features: Mapping[str, tf.Tensor | tf.SparseTensor],
    keys: tf.Tensor | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[tf.Tensor | None, Parsed]:
    """Computes features in the threads of a queue.

    Args:
      parsed_features: Features by name.
      keys: Tensor that belongs to the features.
      feature_queue_capacity: Capacity of the queue.
      num_enqueue_threads: Number of threads.
      name: Name scope of the operations.

    Returns:
      The keys, or None without keys, and the features by name, as the queue returns them.
    """
    given: Any = (keys, dict(parsed_features))
    parts = [one for one in tf.nest.flatten(given, expand_composites=True) if one is not None]
    with _v1.name_scope(name, "queue_parsed_features"):
        queue = tf.queue.FIFOQueue(feature_queue_capacity, [part.dtype for part in parts])
        tf.compat.v1.summary.scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity),
        )
        enqueue_ops = [queue.enqueue(parts) for _ in range(num_enqueue_threads)]
        # Several threads end with the input: each of these errors closes the queue.
        _v1.train.add_queue_runner(
            _v1.train.QueueRunner(
                queue,
                enqueue_ops,
                queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
            )
        )
        computed: Any = queue.dequeue()
        computed = computed if isinstance(computed, list) else [computed]
    for one, part in zip(computed, parts, strict=True):
        one.set_shape(part.shape)
    if keys is None:
        return None, tf.nest.pack_sequence_as(given[1], computed, expand_composites=True)
    return tf.nest.pack_sequence_as(given, computed, expand_composites=True)
