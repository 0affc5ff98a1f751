"""Whether a compressed file was read to its end."""

import functools
import gzip
import zlib

import numpy as np
import tensorflow as tf

_CHUNK = 1 << 20
_LENGTH_BYTES = 4  # At the end of a gzip file, which has it modulo 2^32.


def inflates_to(compression: str, file: bytes, length: np.int64) -> np.bool_:
    """Whether a file is whole and has so many bytes when it is decompressed.

    Args:
      compression: 'GZIP' or 'ZLIB'.
      file: The file.
      length: The bytes that were read of it.
    """
    name = file.decode()
    if compression == "GZIP" and length and _length_at_end(name) == length % (1 << 32):
        return np.True_
    # Other formats, and files made of several streams, do not record it.
    return np.bool_(_inflated_length(compression, name) == length)


def _length_at_end(file: str) -> int:
    with tf.io.gfile.GFile(file, "rb") as opened:
        opened.seek(max(0, opened.size() - _LENGTH_BYTES))
        return int.from_bytes(opened.read(), "little")


@functools.lru_cache(maxsize=100_000)
def _inflated_length(compression: str, file: str) -> int | None:
    """The bytes of a file when it is decompressed; None if it is damaged."""
    try:
        with tf.io.gfile.GFile(file, "rb") as opened:
            return _gzip_length(opened) if compression == "GZIP" else _zlib_length(opened)
    except (OSError, EOFError, zlib.error):
        return None


def _gzip_length(opened: tf.io.gfile.GFile) -> int:
    with gzip.GzipFile(fileobj=opened) as inflated:
        return sum(len(chunk) for chunk in iter(lambda: inflated.read(_CHUNK), b""))


def _zlib_length(opened: tf.io.gfile.GFile) -> int | None:
    inflater = zlib.decompressobj()
    chunks = iter(lambda: opened.read(_CHUNK), b"")
    length = sum(len(inflater.decompress(chunk)) for chunk in chunks)
    return length if inflater.eof else None
