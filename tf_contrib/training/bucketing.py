"""`bucket` of `tf.contrib.training`: queues that batch similar examples together."""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from tf_contrib._types import Condition, Shape, TensorLike

_v1 = tf.compat.v1
# Sizes of batches: one for all buckets, or one for each.
BatchSize: TypeAlias = int | tf.Tensor | Sequence[int]
Examples: TypeAlias = Sequence[Any] | Mapping[str, Any]
_ENDS = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


def bucket(
    tensors: Examples,
    which_bucket: TensorLike,
    batch_size: BatchSize,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Shape] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Condition = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, Any]:
    """Batches examples of one bucket together.

    Args:
      tensors: Tensors of one example, in a list or a dict.
      which_bucket: Number of the example's bucket, an int32.
      batch_size: Size of batches.
      num_buckets: Number of buckets.
      num_threads: Number of threads that compute examples.
      capacity: Number of batches in the last queue, and of examples in each bucket by default.
      bucket_capacities: Number of examples that each bucket can hold.
      shapes: Shapes of the tensors; by default their static shapes.
      dynamic_pad: Whether to pad the tensors of a batch to the longest.
      allow_smaller_final_batch: Whether each bucket ends with a smaller batch.
      keep_input: Whether to use the example, a bool or a scalar tensor.
      shared_name: Name of the last queue, if several sessions share it.
      name: Name of the operations.

    Returns:
      The number of the bucket and the batch; the batch of a list of one tensor is a tensor.

    Raises:
      ValueError: There are no tensors, or as many sizes as buckets are required.
    """
    parts = _Parts(tensors)
    if not parts.flat:
        raise ValueError("Expected at least one tensor in bucket().")
    sizes = _list_sizes(batch_size, num_buckets)
    if bucket_capacities is not None and len(bucket_capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    with _v1.name_scope(name, "bucket", parts.flat):
        values = parts.serialize()
        keep = _check_condition(keep_input)
        number = tf.convert_to_tensor(which_bucket, tf.int32, name="which_bucket")
        make = tf.queue.PaddingFIFOQueue if dynamic_pad else tf.queue.FIFOQueue
        types = [value.dtype for value in values]
        known = _find_shapes(values, shapes)
        queues = [
            make(each, types, known, name=f"bucket_queue_{index}")
            for index, each in enumerate(bucket_capacities or [capacity] * num_buckets)
        ]
        size = None if allow_smaller_final_batch else _find_common(sizes)
        top = _make_queue_of_batches(types, known, size, capacity, shared_name)

        def enqueue() -> tf.Operation:
            steps = [
                _run_if(tf.equal(number, index), functools.partial(queue.enqueue, values))
                for index, queue in enumerate(queues)
            ]
            return tf.group(*steps, name="group_enqueues")

        _move_batches(queues, sizes, top, allow_smaller_final_batch)
        _add_runner(top, [_run_if(keep, enqueue)] * num_threads, queues)
        _summarize(queues, top, capacity)
        found, *values = top.dequeue(name="dequeue_top")
        return found, parts.restore(values)


def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Examples,
    batch_size: BatchSize,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Shape] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Condition = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, Any]:
    """Batches examples of similar length together.

    The arguments are those of `bucket`, but `input_length`, an int32, and `bucket_boundaries`,
    increasing lengths at each of which another bucket begins, determine the bucket of an example.

    Returns:
      The lengths and the batch.

    Raises:
      TypeError: The boundaries are not a list of integers.
      ValueError: There are no boundaries, or they do not increase.
    """
    arguments = dict(locals())
    for own in ("input_length", "tensors", "bucket_boundaries", "shapes", "name"):
        del arguments[own]
    _check_boundaries(bucket_boundaries)
    keys, flat = _flatten(tensors)
    with _v1.name_scope(name, "bucket_by_sequence_length", [input_length, *flat]):
        length = tf.convert_to_tensor(input_length, tf.int32)
        number = tf.reduce_sum(tf.cast(tf.constant(bucket_boundaries) <= length, tf.int32))
        _, (lengths, *batch) = bucket(
            [length, *flat],
            number,
            num_buckets=len(bucket_boundaries) + 1,
            shapes=None if shapes is None else [[], *shapes],
            **arguments,
        )
    return lengths, batch if keys is None else dict(zip(keys, batch, strict=True))


def _make_queue_of_batches(
    types: Sequence[tf.DType],
    shapes: Sequence[tf.TensorShape],
    size: int | None,
    capacity: int,
    shared_name: str | None,
) -> tf.queue.PaddingFIFOQueue:
    """Returns the queue of the batches of all buckets, each with the number of its bucket."""
    return tf.queue.PaddingFIFOQueue(
        capacity,
        [tf.int32, *types],
        [tf.TensorShape([]), *(tf.TensorShape([size]).concatenate(shape) for shape in shapes)],
        shared_name=shared_name,
        name="top_queue",
    )


def _check_boundaries(boundaries: Sequence[int]) -> None:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for first, second in itertools.pairwise(boundaries):
        if not isinstance(first, int) or not isinstance(second, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {first} and {second}")
        if first >= second:
            raise ValueError(
                "Buckets must contain sequential increasing lengths, but saw: "
                f"{first} before {second}"
            )


def _flatten(tensors: Examples) -> tuple[list[str] | None, list[Any]]:
    """Returns the sorted keys of a dict, or None, and the tensors."""
    if isinstance(tensors, Mapping):
        keys = sorted(tensors)
        return keys, [tensors[key] for key in keys]
    return None, list(tensors)


class _Parts:
    """Tensors of an example as a flat list.

    Args:
      tensors: List or dict of tensors and sparse tensors.
    """

    def __init__(self, tensors: Examples) -> None:
        self._keys, flat = _flatten(tensors)
        self.flat = [_v1.convert_to_tensor_or_sparse_tensor(one) for one in flat]

    def serialize(self) -> list[tf.Tensor]:
        """Returns the tensors, the sparse ones serialized: queues take no sparse tensors."""
        return [tf.io.serialize_sparse(one) if _is_sparse(one) else one for one in self.flat]

    def restore(self, batch: list[tf.Tensor]) -> Any:
        """Returns a batch in the structure of the example."""
        restored = []
        for one, values in zip(self.flat, batch, strict=True):
            if _is_sparse(one):
                values = tf.io.deserialize_many_sparse(values, one.dtype, one.shape.rank)
            restored.append(values)
        if self._keys is not None:
            return dict(zip(self._keys, restored, strict=True))
        return restored[0] if len(restored) == 1 else restored


def _is_sparse(value: tf.Tensor | tf.SparseTensor) -> bool:
    return isinstance(value, tf.SparseTensor)


def _list_sizes(batch_size: BatchSize, buckets: int) -> list[Any]:
    if not isinstance(batch_size, (list, tuple)):
        return [batch_size] * buckets
    if len(batch_size) != buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    return list(batch_size)


def _find_common(sizes: Sequence[Any]) -> int | None:
    """Returns the size of every batch, or None if buckets differ or the graph computes it."""
    static = {tf.get_static_value(size) for size in sizes}
    return int(static.pop()) if len(static) == 1 and None not in static else None


def _check_condition(keep_input: Condition) -> Condition:
    if isinstance(keep_input, bool):
        return keep_input
    keep = tf.cast(keep_input, tf.bool)
    if keep.shape.rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    value = tf.get_static_value(keep)
    return keep if value is None else bool(value)


def _find_shapes(
    values: Sequence[tf.Tensor], shapes: Sequence[Shape] | None
) -> list[tf.TensorShape]:
    if shapes is not None:
        return [tf.TensorShape(shape) for shape in shapes]
    for value in values:
        if value.shape.rank is None:
            raise ValueError(f"Cannot infer Tensor's rank: {value}")
    return [value.shape for value in values]


def _run_if(condition: Condition, step: Callable[[], tf.Operation]) -> tf.Operation | tf.Tensor:
    if isinstance(condition, bool):
        return step() if condition else tf.no_op()

    def run() -> tf.Tensor:
        with tf.control_dependencies([step()]):
            return tf.constant(True)

    return _v1.cond(condition, run, lambda: tf.constant(False))


def _move_batches(
    queues: Sequence[tf.queue.QueueBase],
    sizes: Sequence[int | tf.Tensor],
    top: tf.queue.QueueBase,
    allow_smaller: bool,
) -> None:
    """Adds a thread for each bucket, which moves its batches to the last queue."""
    steps = []
    for index, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        read = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batch = read(size, name=f"read_bucket_{index}")
        batch = batch if isinstance(batch, (list, tuple)) else [batch]
        steps.append(top.enqueue([index, *batch], name=f"enqueue_from_bucket_{index}"))
    _add_runner(queues[0], steps, [top])


def _add_runner(
    queue: tf.queue.QueueBase, steps: Sequence[Any], closed: Sequence[tf.queue.QueueBase]
) -> None:
    """Adds a thread for each step, which closes queues after the last example."""
    runner = _v1.train.QueueRunner(
        queue,
        steps,
        close_op=tf.group(*(one.close() for one in closed)),
        cancel_op=tf.group(*(one.close(cancel_pending_enqueues=True) for one in closed)),
        queue_closed_exception_types=_ENDS,
    )
    _v1.train.add_queue_runner(runner)


def _summarize(
    queues: Sequence[tf.queue.QueueBase], top: tf.queue.QueueBase, capacity: int
) -> None:
    for queue in queues:
        # The old summaries of buckets wrote the size of the last queue.
        _v1.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), tf.float32))
    share = tf.cast(top.size(), tf.float32) * (1.0 / capacity)
    _v1.summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", share)
