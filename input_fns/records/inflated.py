"""Checks that a compressed file was read to its end."""

import functools
import gzip
import zlib

import numpy as np
import tensorflow as tf

_CHUNK = 1 << 20
_LENGTH_BYTES = 4  # A gzip file ends with its uncompressed length modulo 2^32.


def has_inflated_length(compression: str, file: bytes, length: np.int64) -> np.bool_:
    """Returns whether a file is complete and has the given length when it is decompressed.

    Args:
      compression: 'GZIP' or 'ZLIB'.
      file: Path of the file.
      length: Number of decompressed bytes that were read.
    """
    name = file.decode()
    if compression == "GZIP" and length and _read_length_at_end(name) == length % (1 << 32):
        return np.True_
    # zlib files, and files of several gzip streams, do not end with the length.
    return np.bool_(_measure_length(compression, name) == length)


def _read_length_at_end(file: str) -> int:
    with tf.io.gfile.GFile(file, "rb") as opened:
        opened.seek(max(0, opened.size() - _LENGTH_BYTES))
        return int.from_bytes(opened.read(), "little")


@functools.lru_cache(maxsize=100_000)
def _measure_length(compression: str, file: str) -> int | None:
    """Returns the number of bytes of a decompressed file; None if the file is damaged."""
    try:
        with tf.io.gfile.GFile(file, "rb") as opened:
            if compression == "GZIP":
                return _measure_gzip_length(opened)
            return _measure_zlib_length(opened)
    except (OSError, EOFError, zlib.error):
        return None


def _measure_gzip_length(opened: tf.io.gfile.GFile) -> int:
    with gzip.GzipFile(fileobj=opened) as inflated:
        return sum(len(chunk) for chunk in iter(lambda: inflated.read(_CHUNK), b""))


def _measure_zlib_length(opened: tf.io.gfile.GFile) -> int | None:
    inflater = zlib.decompressobj()
    chunks = iter(lambda: opened.read(_CHUNK), b"")
    length = sum(len(inflater.decompress(chunk)) for chunk in chunks)
    return length if inflater.eof else None
