"""A queue of rows that Python threads fill, and the batches that come out of it."""

import contextlib
import dataclasses
import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_tf1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Settings:
    """How rows go through the queue; the arguments of `numpy_input_fn` by the same names.

    Raises:
      ValueError: `shuffle` is not a bool.
    """

    batch_size: int
    num_epochs: int | None
    shuffle: bool | None
    queue_capacity: int
    num_threads: int

    def __post_init__(self) -> None:
        if self.shuffle is not True and self.shuffle is not False:
            raise ValueError(
                "shuffle must be provided and explicitly set as boolean (it is recommended to set "
                f"it as True for training); got {self.shuffle}"
            )


def dequeue_batches(columns: Sequence[np.ndarray], settings: Settings) -> list[tf.Tensor]:
    """Puts rows into a queue of the default graph and takes batches out of it.

    Args:
      columns: Arrays of equal first dimension.
      settings: How rows go through the queue.

    Returns:
      One tensor for each column, shapes (batch, ...); the batch is of unknown size if the epochs
      are counted, since the last one can be smaller.
    """
    rows = len(columns[0])
    # Each row goes through the queue with its number, as in tf.estimator 2.15, so that operations
    # and their outputs have the same names.
    columns = [np.arange(rows, dtype=np.int64), *columns]
    dtypes = [tf.as_dtype(column.dtype) for column in columns]
    shapes = [column.shape[1:] for column in columns]
    with tf.name_scope("enqueue_input"):
        least = settings.queue_capacity // 4 if settings.shuffle else 0
        queue = _queue(settings, least, dtypes, shapes)
        runner = _runner(queue, columns, dtypes, shapes, settings)
        _tf1.train.add_queue_runner(runner)
        _summarize_fullness(queue, least, settings.queue_capacity)
    if settings.num_epochs is None:
        batch = queue.dequeue_many(settings.batch_size)
    else:
        batch = queue.dequeue_up_to(settings.batch_size)
    return list(batch[1:])


def _queue(settings: Settings, least: int, dtypes: list[tf.DType], shapes: list[Any]) -> Any:
    if settings.shuffle:
        return tf.queue.RandomShuffleQueue(settings.queue_capacity, least, dtypes, shapes)
    return tf.queue.FIFOQueue(settings.queue_capacity, dtypes, shapes)


def _runner(
    queue: Any,
    columns: Sequence[np.ndarray],
    dtypes: list[tf.DType],
    shapes: list[Any],
    settings: Settings,
) -> "FeedingQueueRunner":
    enqueue_ops, feeds = [], []
    for _ in range(settings.num_threads):
        places = [
            _tf1.placeholder(dtype, [None, *shape])
            for dtype, shape in zip(dtypes, shapes, strict=True)
        ]
        enqueue_ops.append(queue.enqueue_many(places))
        feeds.append(_feeds(places, columns, settings))
    return FeedingQueueRunner(queue, enqueue_ops, feeds)


def _feeds(
    places: Sequence[tf.Tensor], columns: Sequence[np.ndarray], settings: Settings
) -> Callable[[], Iterator[dict[tf.Tensor, np.ndarray]]]:
    """A function that begins an iteration over what to feed, a batch of rows each.

    Each begins at a random row if rows are shuffled, and runs on over the end of the arrays.
    """

    def begin() -> Iterator[dict[tf.Tensor, np.ndarray]]:
        rows = len(columns[0])
        start = random.randrange(rows) if settings.shuffle else 0
        end = None if settings.num_epochs is None else start + rows * settings.num_epochs
        size = max(1, settings.batch_size)
        for first in itertools.count(start, size):
            if end is not None and first >= end:
                return
            last = first + size if end is None else min(first + size, end)
            chosen = np.arange(first, last) % rows
            yield {place: column[chosen] for place, column in zip(places, columns, strict=True)}

    return begin


def _summarize_fullness(queue: Any, least: int, capacity: int) -> None:
    share = tf.cast(tf.maximum(0, queue.size() - least), tf.float32) * (1.0 / (capacity - least))
    _tf1.summary.scalar(
        f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full", share
    )


class FeedingQueueRunner(tf.compat.v1.train.QueueRunner):
    """A queue runner whose threads feed what they enqueue.

    Args:
      queue: The queue.
      enqueue_ops: One operation for each thread.
      feeds: For each of them a function that begins an iteration over feed dicts; when all have
        ended, the queue is closed.
    """

    def __init__(
        self,
        queue: Any,
        enqueue_ops: Sequence[tf.Operation],
        feeds: Sequence[Callable[[], Iterator[dict[tf.Tensor, np.ndarray]]]],
    ) -> None:
        super().__init__(
            queue,
            enqueue_ops,
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
        self._feeds = feeds
        self._lock = threading.Lock()
        self._working: dict[Any, int] = {}

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Makes the threads that fill the queue in a session.

        Args:
          sess: The session.
          coord: The coordinator that stops them and hears of their errors.
          daemon: Whether they may outlive the program's end.
          start: Whether they start at once.

        Returns:
          The threads; none if those of an earlier call for the same session still work.
        """
        with self._lock:
            if self._working.get(sess):
                return []
            self._working[sess] = len(self._feeds)
        threads = [
            threading.Thread(target=self._fill, args=(sess, coord, op, feed), daemon=daemon)
            for op, feed in zip(self.enqueue_ops, self._feeds, strict=True)
        ]
        if coord:
            threads.append(
                threading.Thread(target=self._close_on_stop, args=(sess, coord), daemon=daemon)
            )
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _fill(self, session: Any, coord: Any, op: tf.Operation, feed: Callable[[], Any]) -> None:
        try:
            for values in feed():
                if coord and coord.should_stop():
                    break
                session.run(op, feed_dict=values)
        except self.queue_closed_exception_types:
            pass  # The session's end closed the queue.
        except Exception as error:
            if not coord:
                raise
            coord.request_stop(error)
        finally:
            is_last = self._was_last(session)
        if is_last and not (coord and coord.should_stop()):
            self._run_unless_closed(session, self.close_op)

    def _was_last(self, session: Any) -> bool:
        """Notes that a thread has ended; whether none of the session still works."""
        with self._lock:
            self._working[session] -= 1
            if self._working[session]:
                return False
            del self._working[session]
            return True

    def _close_on_stop(self, session: Any, coord: Any) -> None:
        coord.wait_for_stop()
        self._run_unless_closed(session, self.cancel_op)

    def _run_unless_closed(self, session: Any, op: tf.Operation) -> None:
        with contextlib.suppress(tf.errors.OpError, RuntimeError):
            session.run(op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Cannot be done: what it feeds is in this process."""
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")
