"""Batches of serialized examples, which queues read from files."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1
_train = _v1.train
Reader = Callable[[], Any]
ParseFn = Callable[[tf.Tensor], Any]


def read_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Returns batches of examples without their keys; see `read_keyed_batch_examples`."""
    return read_keyed_batch_examples(**locals())[1]


def read_keyed_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int,
    reader: Reader,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: ParseFn | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[tf.Tensor, Any]:
    """Reads batches of examples from files.

    Args:
      file_pattern: Pattern or patterns of files. They are read in the order of their names.
      batch_size: Number of examples in a batch.
      reader: Function without arguments that returns a reader, for example `tf.TextLineReader`.
      randomize_input: Whether to shuffle files and examples.
      num_epochs: Number of times that each file is read; None: no limit.
      queue_capacity: Capacity of the queue of examples.
      num_threads: Number of readers, one thread each.
      read_batch_size: Number of examples that a reader reads at once.
      parse_fn: Function of what a reader reads that returns a tensor or a dict of tensors.
      name: Name scope of the operations.
      seed: Random seed of the shuffling.

    Returns:
      The keys and the examples of a batch. The last batch may be smaller.

    Raises:
      ValueError: No file matches, or a size is not positive or too large.
    """
    files = sorted(_find_files(file_pattern))
    _check_sizes(batch_size, queue_capacity, num_threads, num_epochs, read_batch_size)
    with _v1.name_scope(name, "read_batch_examples") as scope:
        file_names = _train.string_input_producer(
            tf.constant(files, name="input"),
            num_epochs=num_epochs,
            shuffle=randomize_input,
            seed=seed,
            name="file_name_queue",
        )
        with tf.name_scope("read"):
            readers = [reader() for _ in range(num_threads)]
            pairs = [_read(one, file_names, read_batch_size, parse_fn) for one in readers]
        queue: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "allow_smaller_final_batch": True,
            "name": scope,
        }
        # A queue takes lists of tensors; parse_fn may return a dict.
        flat = [tf.nest.flatten(pair) for pair in pairs]
        if randomize_input:
            rest = max(queue_capacity - 3 * batch_size, batch_size)
            queue.update(min_after_dequeue=rest, seed=seed)
            batch = _train.shuffle_batch_join(flat, batch_size, **queue)
        else:
            batch = _train.batch_join(flat, batch_size, **queue)
        return tf.nest.pack_sequence_as(pairs[0], batch)


# Each process has its own queue of files here.
read_keyed_batch_examples_shared_queue = read_keyed_batch_examples


def _read(
    reader: Any, files: tf.queue.QueueBase, count: int, parse_fn: ParseFn | None
) -> tuple[tf.Tensor, Any]:
    keys, examples = reader.read_up_to(files, count) if count > 1 else reader.read(files)
    return keys, parse_fn(examples) if parse_fn else examples


def _find_files(pattern: str | Sequence[str]) -> list[str]:
    if not isinstance(pattern, list | tuple):
        files = tf.io.gfile.glob(pattern) if pattern else []
        if not files:
            raise ValueError(f"No files match {pattern}: give a path or a pattern of files.")
        return files
    if not pattern:
        raise ValueError("No files are given: give at least one path or pattern of files.")
    # A path in a list need not exist yet.
    return [file for one in pattern for file in (tf.io.gfile.glob(one) or [one])]


def _check_sizes(
    batch_size: int,
    queue_capacity: int,
    num_threads: int,
    num_epochs: int | None,
    read_batch_size: int,
) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}: it must be positive.")
    if not batch_size or not 0 < batch_size < queue_capacity:
        raise ValueError(
            f"Invalid batch_size {batch_size}: it must be positive and smaller than queue_capacity "
            f"{queue_capacity}."
        )
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}: it must be positive.")
    if not read_batch_size or read_batch_size <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}: it must be positive.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}: it must be positive, or None.")
