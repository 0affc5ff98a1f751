"""Queue that Python threads fill with rows, and batches taken from that queue."""

import contextlib
import dataclasses
import functools
import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_tf1 = tf.compat.v1
FeedDicts = Iterator[dict[tf.Tensor, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings of the queue, named like the arguments of `numpy_input_fn`.

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


def dequeue_batches(
    columns: Sequence[np.ndarray], names: Sequence[str], settings: Settings
) -> list[tf.Tensor]:
    """Adds a queue of rows to the default graph and returns its batches.

    Args:
      columns: Arrays of equal first dimension.
      names: Name of each array in errors.
      settings: Settings of the queue.

    Returns:
      One tensor for each column, shapes (batch, ...). With `num_epochs` the static batch size is
      unknown, because the last batch can be smaller.

    Raises:
      TypeError: TensorFlow does not support the dtype of an array.
    """
    for name, column in zip(names, columns, strict=True):
        try:
            tf.as_dtype(column.dtype)
        except TypeError as error:
            raise TypeError(f"{name} must have numbers, bools or strings: {error}") from error
    rows = len(columns[0])
    # tf.estimator 2.15 enqueues each row with its number: this gives operations the same names.
    columns, names = [np.arange(rows, dtype=np.int64), *columns], ["the row numbers", *names]
    dtypes = [tf.as_dtype(column.dtype) for column in columns]
    shapes = [column.shape[1:] for column in columns]
    with tf.name_scope("enqueue_input"):
        min_after_dequeue = settings.queue_capacity // 4 if settings.shuffle else 0
        if settings.shuffle:
            queue: tf.queue.QueueBase = tf.queue.RandomShuffleQueue(
                settings.queue_capacity, min_after_dequeue, dtypes, shapes
            )
        else:
            queue = tf.queue.FIFOQueue(settings.queue_capacity, dtypes, shapes)
        _tf1.train.add_queue_runner(_make_runner(queue, columns, names, settings))
        _summarize_fullness(queue, min_after_dequeue, settings.queue_capacity)
    if settings.num_epochs is None:
        batch = queue.dequeue_many(settings.batch_size)
    else:
        batch = queue.dequeue_up_to(settings.batch_size)
    return list(batch[1:])


def _make_runner(
    queue: tf.queue.QueueBase,
    columns: Sequence[np.ndarray],
    names: Sequence[str],
    settings: Settings,
) -> "FeedingQueueRunner":
    enqueue_ops, feeds = [], []
    for _ in range(settings.num_threads):
        placeholders = [
            _tf1.placeholder(dtype, [None, *column.shape[1:]])
            for dtype, column in zip(queue.dtypes, columns, strict=True)
        ]
        enqueue_ops.append(queue.enqueue_many(placeholders))
        feeds.append(functools.partial(_feed_rows, placeholders, columns, names, settings))
    return FeedingQueueRunner(queue, enqueue_ops, feeds)


def _feed_rows(
    placeholders: Sequence[tf.Tensor],
    columns: Sequence[np.ndarray],
    names: Sequence[str],
    settings: Settings,
) -> FeedDicts:
    """Yields feed dicts of a batch of rows each.

    Shuffled rows begin at a random row and wrap around at the end of the arrays.
    """
    rows = len(columns[0])
    start = random.randrange(rows) if settings.shuffle else 0
    end = None if settings.num_epochs is None else start + rows * settings.num_epochs
    size = max(1, settings.batch_size)
    for first in itertools.count(start, size):
        if end is not None and first >= end:
            return
        last = first + size if end is None else min(first + size, end)
        indices = np.arange(first, last) % rows
        yield {
            placeholder: _take_rows(column, name, indices)
            for placeholder, column, name in zip(placeholders, columns, names, strict=True)
        }


class NotStringError(tf.errors.InternalError, TypeError):
    """Error of a value that is no string, in a column that TensorFlow takes as strings.

    TensorFlow raises InternalError too, without the column.
    """


def _take_rows(column: np.ndarray, name: str, indices: np.ndarray) -> np.ndarray:
    """Returns rows of an array.

    Raises:
      NotStringError: An array of objects has one that is not a string.
    """
    if column.dtype.hasobject:
        for index in indices:
            for value in column[index : index + 1].flat:
                if not isinstance(value, (str, bytes)):
                    raise NotStringError(
                        None,
                        None,
                        f"{name} has the value {value!r} ({type(value).__name__}) in row {index}, "
                        "and TensorFlow takes an array of objects as strings: convert it to "
                        "strings or to numbers, and fill missing values.",
                    )
    return column[indices]


def _summarize_fullness(queue: tf.queue.QueueBase, minimum: int, capacity: int) -> None:
    share = tf.cast(tf.maximum(0, queue.size() - minimum), tf.float32) * (
        1.0 / (capacity - minimum)
    )
    _tf1.summary.scalar(
        f"queue/{queue.name}fraction_over_{minimum}_of_{capacity - minimum}_full", share
    )


class FeedingQueueRunner(tf.compat.v1.train.QueueRunner):
    """Queue runner whose threads feed rows of arrays in this process.

    The last thread that ends closes the queue.

    Args:
      queue: The queue.
      enqueue_ops: One operation for each thread.
      feeds: One function for each thread; it returns an iterator of feed dicts.
    """

    def __init__(
        self,
        queue: tf.queue.QueueBase,
        enqueue_ops: Sequence[tf.Operation],
        feeds: Sequence[Callable[[], FeedDicts]],
    ) -> None:
        super().__init__(
            queue,
            enqueue_ops,
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError),
        )
        self._feeds = feeds
        self._lock = threading.Lock()
        self._running: dict[tf.compat.v1.Session, int] = {}  # Threads for each session.

    def create_threads(
        self,
        sess: tf.compat.v1.Session,
        coord: tf.train.Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """Creates the threads that fill the queue in a session.

        Args:
          sess: The session.
          coord: Coordinator that stops the threads and receives their errors.
          daemon: Whether the program can exit while the threads run.
          start: Whether to start the threads.

        Returns:
          The threads; an empty list while threads of an earlier call for this session run.
        """
        with self._lock:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self._feeds)
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

    def _fill(
        self,
        session: tf.compat.v1.Session,
        coord: tf.train.Coordinator | None,
        op: tf.Operation,
        feed: Callable[[], FeedDicts],
    ) -> None:
        try:
            for values in feed():
                if coord and coord.should_stop():
                    break
                session.run(op, feed_dict=values)
        except self.queue_closed_exception_types:
            pass  # The queue is closed at the end of the session.
        except Exception as error:
            if not coord:
                raise
            coord.request_stop(error)
        finally:
            is_last = self._end_thread(session)
        if is_last and not (coord and coord.should_stop()):
            self._run_unless_closed(session, self.close_op)

    def _end_thread(self, session: tf.compat.v1.Session) -> bool:
        """Counts a thread as ended and returns whether it was the session's last."""
        with self._lock:
            self._running[session] -= 1
            if self._running[session]:
                return False
            del self._running[session]
            return True

    def _close_on_stop(self, session: tf.compat.v1.Session, coord: tf.train.Coordinator) -> None:
        coord.wait_for_stop()
        self._run_unless_closed(session, self.cancel_op)

    def _run_unless_closed(self, session: tf.compat.v1.Session, op: tf.Operation) -> None:
        with contextlib.suppress(tf.errors.OpError, RuntimeError):
            session.run(op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Raises NotImplementedError: the arrays exist only in this process."""
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")
