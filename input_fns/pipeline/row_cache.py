"""Caches of decoded rows, in memory or in a file, by row number.

Rows are added in any order when they are first used, so a pipeline can shuffle before the cache
and each epoch has a new order. A job that is killed and restarted can use its cache file again.
"""

import contextlib
import errno
import hashlib
import json
import os
import weakref
from typing import Any

import numpy as np
import tensorflow as tf

_MAGIC = b"input_fns row cache\n"
# Bytes of the header. After the header, one byte for each row marks whether it is cached; then
# the rows follow.
_HEADER_SIZE = 4096


class RowCache:
    """Cache in memory for uint8 rows of equal shape.

    Args:
      count: Number of rows.
      shape: Shape of a row.
    """

    def __init__(self, count: int, shape: tuple[int, ...]) -> None:
        self._rows = np.zeros([count, *shape], np.uint8)
        self._is_cached = np.zeros([count], bool)

    def has(self, numbers: np.ndarray) -> np.bool_:
        """Returns whether the cache has all of these rows."""
        return self._is_cached[numbers].all()

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """Returns cached rows."""
        return self._rows[numbers]

    def write(self, numbers: np.ndarray, rows: np.ndarray) -> None:
        """Adds rows."""
        self._rows[numbers] = rows
        self._is_cached[numbers] = True


class FileCache:
    """Cache in a file of the local file system for uint8 rows of equal shape.

    Args:
      path: The file; it is created if it does not exist.
      count: Number of rows.
      shape: Shape of a row.
      contents: JSON description of the sources of the rows; a cache file with another description
        is rejected.

    Raises:
      ValueError: The file belongs to other data, or is damaged.
      OSError: The file cannot be written.
    """

    def __init__(self, path: str, count: int, shape: tuple[int, ...], contents: Any) -> None:
        self._path, self._count, self._shape = path, count, shape
        self._size = int(np.prod(shape))
        fingerprint = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
        header = {"rows": count, "shape": list(shape), "contents": fingerprint}
        if not os.path.exists(path):
            self._create(header)
        self._file = os.open(path, os.O_RDWR)
        weakref.finalize(self, os.close, self._file)
        self._check(header)
        self._is_cached = np.frombuffer(os.pread(self._file, count, _HEADER_SIZE), bool).copy()

    def _create(self, header: dict[str, Any]) -> None:
        unfinished = f"{self._path}.{os.getpid()}.unfinished"
        try:
            with open(unfinished, "wb") as file:
                start = _MAGIC + json.dumps(header).encode() + b"\n"
                file.write(start.ljust(_HEADER_SIZE, b"\0"))
                file.truncate(_HEADER_SIZE + self._count * (1 + self._size))
            os.replace(unfinished, self._path)
        except OSError as error:
            text = f"The cache file cannot be created: {error.strerror}"
            raise OSError(error.errno, text, self._path) from error
        finally:
            with contextlib.suppress(OSError):
                os.remove(unfinished)

    def _check(self, header: dict[str, Any]) -> None:
        start = os.pread(self._file, _HEADER_SIZE, 0)
        size = os.fstat(self._file).st_size
        advice = "Remove it, or choose another cache file."
        if not start.startswith(_MAGIC):
            raise ValueError(f"{self._path} is not a cache file of input_fns. {advice}")
        actual = json.loads(start[len(_MAGIC) :].partition(b"\n")[0])
        if actual != header:
            has_changed = actual["rows"] == header["rows"]
            raise ValueError(
                f"Cache file {self._path} belongs to other data: it has {actual['rows']} rows of "
                f"shape {actual['shape']}, expected {header['rows']} of shape {header['shape']}"
                f"{' from the current version of the files' if has_changed else ''}. {advice}"
            )
        if size != _HEADER_SIZE + self._count * (1 + self._size):
            raise ValueError(f"Cache file {self._path} is damaged: it has {size} bytes. {advice}")

    def has(self, numbers: np.ndarray) -> np.bool_:
        """Returns whether the cache has all of these rows."""
        return self._is_cached[numbers].all()

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """Returns cached rows."""
        rows = np.empty([len(numbers), *self._shape], np.uint8)
        for row, number in zip(rows, numbers, strict=True):
            os.preadv(self._file, [row.data.cast("B")], self._compute_offset(number))
        return rows

    def write(self, numbers: np.ndarray, rows: np.ndarray) -> None:
        """Adds rows, and marks them as cached after they are written.

        Raises:
          OSError: The disk is full.
        """
        for row, number in zip(rows, numbers, strict=True):
            if os.pwrite(self._file, row.tobytes(), self._compute_offset(number)) < self._size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        for number in numbers:
            os.pwrite(self._file, b"\1", _HEADER_SIZE + int(number))
        self._is_cached[numbers] = True

    def _compute_offset(self, number: int) -> int:
        return _HEADER_SIZE + self._count + int(number) * self._size


def cache_batch(
    cache: RowCache | FileCache, batch: tf.data.Dataset, numbers: tf.Tensor, labels: tf.Tensor
) -> tf.data.Dataset:
    """Returns a batch from the cache if it has all rows; otherwise adds the given batch to it.

    Args:
      cache: The cache.
      batch: A dataset with at most one element, (numbers, rows, labels), rows of tf.uint8.
      numbers: Row numbers of the batch, tf.int64 of shape (rows,).
      labels: Labels of the rows, which are not cached.
    """
    spec = batch.element_spec[1]

    def is_cached(numbers: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(tf.numpy_function(cache.has, [numbers], tf.bool, False), [])

    def read(numbers: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = tf.numpy_function(cache.read, [numbers], tf.uint8, False)
        return numbers, tf.ensure_shape(rows, spec.shape), labels

    def write(numbers: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        cache.write(numbers, rows)
        return labels

    def add(numbers: tf.Tensor, rows: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        # TensorFlow runs a stateless operation only if its result is used. So `write` returns the
        # labels.
        same_labels = tf.numpy_function(write, [numbers, rows, labels], labels.dtype, False)
        return numbers, rows, tf.ensure_shape(same_labels, labels.shape)

    found = tf.data.Dataset.from_tensors((numbers, labels)).filter(is_cached).map(read)
    return found.concatenate(batch.map(add)).take(1)


def round_to_bytes(picture: tf.Tensor) -> tf.Tensor:
    """Rounds values from 0 to 255 to tf.uint8."""
    return tf.cast(picture + 0.5, tf.uint8)
