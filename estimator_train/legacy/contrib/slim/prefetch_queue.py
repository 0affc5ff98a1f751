"""`tf.contrib.slim.prefetch_queue`: a queue of tensors that are computed ahead."""

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
) -> Any:
    """A queue that threads fill with tensors, as many at a time as one run computes.

    Args:
      tensors: A list or dict of tensors; `dequeue` returns the same of it.
      capacity: How many are computed ahead.
      num_threads: How many threads compute.
      dynamic_pad: Lets shapes have sizes that are not known.
      shared_name: The name under which sessions share the queue.
      name: The scope of the operations' names.
    """
    names = sorted(tensors) if isinstance(tensors, Mapping) else None
    parts: list[Any] = list(tensors)
    if isinstance(tensors, Mapping):
        parts = [tensors[key] for key in sorted(tensors)]
    kind = tf.queue.PaddingFIFOQueue if dynamic_pad else tf.queue.FIFOQueue
    with tf.name_scope(name or "prefetch_queue"):
        parts = [tf.convert_to_tensor(part) for part in parts]
        queue = kind(
            capacity,
            [part.dtype for part in parts],
            # Queues that pad need the ranks; those that do not take shapes that are known alone.
            shapes=[part.shape for part in parts]
            if dynamic_pad or all(part.shape.is_fully_defined() for part in parts)
            else None,
            names=names,
            shared_name=shared_name,
        )
        filled = parts if names is None else dict(zip(names, parts, strict=True))
        _train.add_queue_runner(_train.QueueRunner(queue, [queue.enqueue(filled)] * num_threads))
    return queue
