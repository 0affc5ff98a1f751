"""The IDX file format of MNIST: a header, then one array in big-endian byte order.

The header has two zero bytes, one byte for the dtype, one for the number of dimensions, and
each dimension as an unsigned 32-bit number. Files may be compressed with gzip.
"""

import gzip
import math
import os
import struct
import zlib
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.batching import batches
from input_fns.pipeline.options import PipelineOptions

_DTYPES: dict[int, np.dtype[Any]] = {
    0x08: np.dtype("uint8"),
    0x09: np.dtype("int8"),
    0x0B: np.dtype(">i2"),
    0x0C: np.dtype(">i4"),
    0x0D: np.dtype(">f4"),
    0x0E: np.dtype(">f8"),
}
_GZIP_MAGIC = b"\x1f\x8b"

PathLike = str | os.PathLike[str]


def read_idx(path: PathLike) -> np.ndarray:
    """Reads an array from an IDX file.

    Args:
      path: The file, compressed with gzip or not, whatever its name.

    Returns:
      The array, in native byte order: uint8, int8, int16, int32, float32 or float64.

    Raises:
      FileNotFoundError: A file does not exist.
      ValueError: The file is not an IDX file, is too short, too long, or damaged.
    """
    path = checks.path("path", path)
    data = _read(path)
    dtype, shape, start = _header(path, data)
    expected = start + math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        fault = "cut short" if len(data) < expected else "longer than its header says"
        raise ValueError(
            f"IDX file {path} is {fault}: found {len(data)} bytes, expected {expected} for "
            f"{dtype.newbyteorder('=')} of shape {shape}. Get a fresh copy of the file."
        )
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="))


def _read(path: str) -> bytes:
    if not tf.io.gfile.exists(path):
        raise FileNotFoundError(f"There is no IDX file {path}.")
    if tf.io.gfile.isdir(path):
        raise ValueError(f"{path} is a folder, expected an IDX file.")
    with tf.io.gfile.GFile(path, "rb") as file:
        data = file.read()
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"IDX file {path} is a damaged gzip file ({len(data)} bytes): {error}. Get a "
            "fresh copy of the file."
        ) from error


def _header(path: str, data: bytes) -> tuple[np.dtype, tuple[int, ...], int]:
    """Returns the dtype, the shape, and where the values begin."""
    if len(data) < 4:
        raise ValueError(
            f"IDX file {path} is cut short: found {len(data)} bytes, expected 4 or more."
        )
    zero, code, dimensions = struct.unpack(">HBB", data[:4])
    if zero != 0 or code not in _DTYPES:
        known = ", ".join(f"0x{known:02x}" for known in _DTYPES)
        raise ValueError(
            f"{path} is not an IDX file: found magic number 0x{data[:4].hex()}, expected "
            f"0x0000, then a dtype byte among {known}, then the number of dimensions."
        )
    start = 4 + 4 * dimensions
    if len(data) < start:
        raise ValueError(
            f"IDX file {path} is cut short: found {len(data)} bytes, expected {start} or "
            f"more for a header with {dimensions} dimensions."
        )
    return _DTYPES[code], struct.unpack(f">{dimensions}I", data[4:start]), start


def write_idx(path: PathLike, array: np.ndarray) -> None:
    """Writes an array to an IDX file, which is there completely or not at all.

    Args:
      path: The file; compressed with gzip if its name ends with `.gz`. The same array always
        gives the same bytes.
      array: Array of uint8, int8, int16, int32, float32 or float64.

    Raises:
      TypeError: The format has no such dtype.
    """
    path = checks.path("path", path)
    array = np.asarray(array)
    codes = {dtype.newbyteorder("="): code for code, dtype in _DTYPES.items()}
    code = codes.get(array.dtype.newbyteorder("="))
    if code is None:
        known = ", ".join(str(dtype) for dtype in codes)
        raise TypeError(f"IDX files hold {known}, but the array for {path} is {array.dtype}.")
    data = struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape)
    data += array.astype(_DTYPES[code]).tobytes()
    if path.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    unfinished = f"{path}.unfinished"
    with tf.io.gfile.GFile(unfinished, "wb") as file:
        file.write(data)
    tf.io.gfile.rename(unfinished, path, overwrite=True)


def idx(
    images_path: PathLike,
    labels_path: PathLike,
    *,
    max_value: float = 255.0,
    num_classes: int | None = None,
    **batching: Any,
) -> tf.data.Dataset:
    """Gives the pictures and labels of two IDX files in batches.

    Args:
      images_path: File with an array of shape (rows, height, width), or (rows, height, width,
        channels).
      labels_path: File with the class of each row, integers of shape (rows,).
      max_value: The value in the file that becomes 1.0.
      num_classes: Number of classes for one-hot labels; None gives the classes themselves.
      **batching: The settings of `PipelineOptions`, or `options` with all of them.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, height,
      width, channels), and tf.int32 of shape (batch_size,), or tf.float32 of shape
      (batch_size, num_classes) if one-hot.

    Raises:
      FileNotFoundError: A file does not exist.
      ValueError: A file is damaged, the two do not fit together, or an argument is out of
        its range.
    """
    settings = PipelineOptions.of(batching)
    checks.optional_integer("num_classes", num_classes, minimum=2)
    if not max_value > 0:
        raise ValueError(f"max_value must be greater than 0, but got {max_value}.")
    images = _read_pictures(images_path)
    labels = _read_labels(labels_path, num_classes)
    if len(images) != len(labels):
        raise ValueError(
            f"IDX files {images_path} and {labels_path} do not belong together: found "
            f"{len(labels)} labels, expected {len(images)}, one for each picture."
        )

    def scale(pictures: tf.Tensor, classes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        pictures = tf.cast(pictures, tf.float32) / max_value
        classes = tf.cast(classes, tf.int32)
        return pictures, classes if num_classes is None else tf.one_hot(classes, num_classes)

    # Scaling a batch at a time keeps the arrays in memory as small as they are in the file.
    rows = batches(images, labels, settings)
    return settings.finish(rows.map(scale))


def _read_pictures(path: PathLike) -> np.ndarray:
    images = read_idx(path)
    if images.ndim not in (3, 4) or images.size == 0:
        raise ValueError(
            f"IDX file {path} holds no pictures: found an array of shape {images.shape}, "
            "expected (rows, height, width) or (rows, height, width, channels)."
        )
    return images[..., np.newaxis] if images.ndim == 3 else images


def _read_labels(path: PathLike, num_classes: int | None) -> np.ndarray:
    labels = read_idx(path)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(
            f"IDX file {path} holds no labels: found {labels.dtype} of shape {labels.shape}, "
            "expected integers of shape (rows,)."
        )
    if num_classes is not None and labels.size:
        low, high = labels.min(), labels.max()
        if low < 0 or high >= num_classes:
            raise ValueError(
                f"IDX file {path} holds labels out of range: found {low} to {high}, expected "
                f"0 to {num_classes - 1} for num_classes={num_classes}."
            )
    return labels
