"""The IDX file format of MNIST: a header, then one array in big-endian byte order.

The header consists of two zero bytes, a byte for the dtype, a byte for the number of dimensions,
and each dimension as an unsigned 32-bit number. Files may be compressed with gzip.
"""

import gzip
import math
import os
import struct
import uuid
import zlib
from typing import Any

import numpy as np
import tensorflow as tf

from input_fns.pipeline import checks
from input_fns.pipeline.batching import batch_arrays
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
      path: The file; gzip compression is detected from the contents, not from the name.

    Returns:
      The array, in native byte order: uint8, int8, int16, int32, float32 or float64.

    Raises:
      FileNotFoundError: A file does not exist.
      ValueError: The file is not an IDX file, is too short, too long, or damaged.
    """
    path = checks.path("path", path)
    data = _read(path)
    dtype, shape, start = _parse_header(path, data)
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


def _parse_header(path: str, data: bytes) -> tuple[np.dtype, tuple[int, ...], int]:
    """Returns the dtype, the shape and the offset of the values."""
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
    """Writes an array to an IDX file, atomically.

    Args:
      path: The file; compressed with gzip if its name ends with `.gz`. The same array always
        gives the same bytes.
      array: Array of uint8, int8, int16, int32, float32 or float64.

    Raises:
      TypeError: The format does not support the dtype of the array.
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
    unfinished = f"{path}.{uuid.uuid4().hex[:8]}.unfinished"  # Several processes may download.
    try:
        with tf.io.gfile.GFile(unfinished, "wb") as file:
            file.write(data)
        tf.io.gfile.rename(unfinished, path, overwrite=True)
    finally:
        if tf.io.gfile.exists(unfinished):
            tf.io.gfile.remove(unfinished)


def idx(
    images_path: PathLike,
    labels_path: PathLike,
    *,
    max_value: float = 255.0,
    num_classes: int | None = None,
    **settings: Any,
) -> tf.data.Dataset:
    """Returns batches of the pictures and labels of two IDX files.

    Args:
      images_path: File with an array of shape (rows, height, width), or (rows, height, width,
        channels).
      labels_path: File with the class of each row, integers of shape (rows,).
      max_value: Value in the file that is scaled to 1.0.
      num_classes: Number of classes for one-hot labels; None gives the class numbers.
      **settings: Settings of `PipelineOptions` by name, or `options=PipelineOptions(...)`.

    Returns:
      A `tf.data.Dataset` of (pictures, labels): tf.float32 of shape (batch_size, height,
      width, channels), and tf.int32 of shape (batch_size,), or tf.float32 of shape
      (batch_size, num_classes) if one-hot.

    Raises:
      FileNotFoundError: A file does not exist.
      ValueError: A file is damaged, the numbers of pictures and labels differ, or an argument is
        out of range.
    """
    options = PipelineOptions.from_arguments(settings)
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

    def convert(pictures: tf.Tensor, classes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        pictures = tf.cast(pictures, tf.float32) / max_value
        classes = tf.cast(classes, tf.int32)
        return pictures, classes if num_classes is None else tf.one_hot(classes, num_classes)

    # Scaling single batches keeps the arrays in memory in the small dtype of the file.
    rows = batch_arrays(images, labels, options)
    return options.finish(rows.map(convert))


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
