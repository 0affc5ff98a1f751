"""`tf.contrib.slim.prefetch_queue`: a queue of tensors that threads compute in advance."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

_train = tf.compat.v1.train


def prefetch_queue(
    tensors: Mapping[str, Any] | Sequence[Any],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> tf.queue.QueueBase:
    """Creates a queue whose elements threads compute in advance.

    Args:
      tensors: List or dict of tensors; `dequeue` returns the same structure.
      capacity: Capacity of the queue.
      num_threads: Number of threads.
      dynamic_pad: Whether sizes of the shapes may be unknown.
      shared_name: Name under which sessions share the queue.
      name: Name scope of the operations.
    """
    names, parts = None, list(tensors)
    if isinstance(tensors, Mapping):
        names = sorted(tensors)
        parts = [tensors[name] for name in names]
    queue_class = tf.queue.PaddingFIFOQueue if dynamic_pad else tf.queue.FIFOQueue
    with tf.name_scope(name or "prefetch_queue"):
        parts = [tf.convert_to_tensor(part) for part in parts]
        queue = queue_class(
            capacity,
            [part.dtype for part in parts],
            # Padding queues need partial shapes; other queues accept only complete ones.
            shapes=[part.shape for part in parts]
            if dynamic_pad or all(part.shape.is_fully_defined() for part in parts)
            else None,
            names=names,
            shared_name=shared_name,
        )
        elements = parts if names is None else dict(zip(names, parts, strict=True))
        _train.add_queue_runner(_train.QueueRunner(queue, [queue.enqueue(elements)] * num_threads))
    return queue
