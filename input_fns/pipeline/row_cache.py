"""Decoded rows of bytes, kept by their number in memory or in a file.

Rows are added as they are first used, in any order, so that shuffling comes before the cache and
is new in each epoch. A job that is killed finds what it had cached.
"""

import contextlib
import hashlib
import json
import os
import threading
import weakref
from typing import Any

import numpy as np
import tensorflow as tf

_MAGIC = b"input_fns row cache\n"
# Bytes of the header. The marks of the rows that are in the file follow, then the rows.
_HEAD = 4096


class RowCache:
    """Rows of one shape of uint8, in memory; those of a file are in `FileCache`.

    Args:
      count: Number of rows.
      shape: Shape of a row.
    """

    def __init__(self, count: int, shape: tuple[int, ...]) -> None:
        self._rows = np.zeros([count, *shape], np.uint8)
        self._there = np.zeros([count], bool)

    def has(self, numbers: np.ndarray) -> np.bool_:
        """Whether the cache has all of these rows."""
        return self._there[numbers].all()

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """Returns rows that the cache has."""
        return self._rows[numbers]

    def write(self, numbers: np.ndarray, rows: np.ndarray) -> None:
        """Adds rows."""
        self._rows[numbers] = rows
        self._there[numbers] = True


class FileCache:
    """Rows of one shape of uint8, in a file of the local file system.

    Args:
      path: The file; it is made if it is not there.
      count: Number of rows.
      shape: Shape of a row.
      contents: What the rows are made of; a file that was made of something else is refused.

    Raises:
      ValueError: The file belongs to other data, or is damaged.
      OSError: The file cannot be written.
    """

    def __init__(self, path: str, count: int, shape: tuple[int, ...], contents: Any) -> None:
        self._path, self._count, self._shape = path, count, shape
        self._size = int(np.prod(shape))
        self._lock = threading.Lock()
        print_ = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
        head = {"rows": count, "shape": list(shape), "contents": print_}
        if not os.path.exists(path):
            self._make(head)
        self._file = os.open(path, os.O_RDWR)
        weakref.finalize(self, os.close, self._file)
        self._check(head)
        self._there = np.frombuffer(os.pread(self._file, count, _HEAD), bool).copy()

    def _make(self, head: dict[str, Any]) -> None:
        unfinished = f"{self._path}.{os.getpid()}.unfinished"
        try:
            with open(unfinished, "wb") as file:
                file.write((_MAGIC + json.dumps(head).encode() + b"\n").ljust(_HEAD, b"\0"))
                file.truncate(_HEAD + self._count * (1 + self._size))
            os.replace(unfinished, self._path)
        except OSError as error:
            text = f"The cache cannot be made: {error.strerror}"
            raise OSError(error.errno, text, self._path) from error
        finally:
            with contextlib.suppress(OSError):
                os.remove(unfinished)

    def _check(self, head: dict[str, Any]) -> None:
        start = os.pread(self._file, _HEAD, 0)
        size = os.fstat(self._file).st_size
        way_out = "Remove it, or name another file as cache."
        if not start.startswith(_MAGIC):
            raise ValueError(f"{self._path} is not a cache of input_fns. {way_out}")
        found = json.loads(start[len(_MAGIC) :].partition(b"\n")[0])
        if found != head:
            raise ValueError(
                f"Cache file {self._path} belongs to other data: it has {found['rows']} rows of "
                f"shape {found['shape']}, expected {head['rows']} of shape {head['shape']}"
                f"{'' if found['rows'] != head['rows'] else ' from the files as they are now'}. "
                f"{way_out}"
            )
        if size != _HEAD + self._count * (1 + self._size):
            raise ValueError(f"Cache file {self._path} is damaged: it has {size} bytes. {way_out}")

    def has(self, numbers: np.ndarray) -> np.bool_:
        """Whether the cache has all of these rows."""
        return self._there[numbers].all()

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """Returns rows that the cache has."""
        rows = np.empty([len(numbers), *self._shape], np.uint8)
        for row, number in zip(rows, numbers, strict=True):
            os.preadv(self._file, [row.data.cast("B")], self._place(number))
        return rows

    def write(self, numbers: np.ndarray, rows: np.ndarray) -> None:
        """Adds rows, and marks them when they are written."""
        with self._lock:
            for row, number in zip(rows, numbers, strict=True):
                os.pwrite(self._file, np.ascontiguousarray(row).tobytes(), self._place(number))
            for number in numbers:
                os.pwrite(self._file, b"\1", _HEAD + int(number))
        self._there[numbers] = True

    def _place(self, number: int) -> int:
        return _HEAD + self._count + int(number) * self._size


def cached(
    cache: RowCache | FileCache, batch: tf.data.Dataset, numbers: tf.Tensor, labels: tf.Tensor
) -> tf.data.Dataset:
    """A batch from the cache if it has all of its rows; else as given, and added to the cache.

    Args:
      cache: The cache.
      batch: A dataset with at most one element, (numbers, rows, labels), rows of tf.uint8.
      numbers: Row numbers of the batch, tf.int64 of shape (rows,).
      labels: What else the batch has, by row.
    """
    spec = batch.element_spec[1]

    def has(numbers: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(cache.has, [numbers], tf.bool, False), [])

    def read(numbers: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = tf.numpy_function(cache.read, [numbers], tf.uint8, False)
        return numbers, tf.ensure_shape(rows, spec.shape), labels

    def write(numbers: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        cache.write(numbers, rows)
        return labels

    def keep(numbers: tf.Tensor, rows: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        # What has no state is done only if its result is needed: so the labels go through it.
        through = tf.numpy_function(write, [numbers, rows, labels], labels.dtype, False)
        return numbers, rows, tf.ensure_shape(through, labels.shape)

    found = tf.data.Dataset.from_tensors((numbers, labels)).filter(has).map(read)
    return found.concatenate(batch.map(keep)).take(1)


def to_bytes(picture: tf.Tensor) -> tf.Tensor:
    """Rounds values from 0 to 255 to tf.uint8."""
    return tf.cast(picture + 0.5, tf.uint8)
