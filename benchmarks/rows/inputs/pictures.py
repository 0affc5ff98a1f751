"""A folder of JPEG pictures: grey, coloured, with full decoding, and from the cache."""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.input_speed import (
    make_input_benchmark,
    read_pictures,
    read_pictures_by_tutorial,
    write_jpegs,
)

_EPOCH = 256 // 64


def _decode_only(folder: Path) -> Any:
    import tensorflow as tf

    contents = [path.read_bytes() for path in sorted(folder.glob("*/*"))]
    dataset = tf.data.Dataset.from_tensor_slices(contents).repeat()
    shapes = dataset.map(
        lambda content: tf.shape(tf.io.decode_jpeg(content, channels=3)), tf.data.AUTOTUNE
    )
    return shapes.batch(64).prefetch(tf.data.AUTOTUNE)


def _read_with_cache(folder: Path) -> Any:
    return read_pictures(folder, cache=folder / "cache")


BENCHMARKS = (
    make_input_benchmark(
        "input_jpeg_grey",
        "input: grey JPEG 512x496 to 224x224x3, shuffled, batch 64",
        "tutorial",
        64,
        partial(write_jpegs, channels=1),
        read_pictures,
        read_pictures_by_tutorial,
        goal=1.6,
    ),
    make_input_benchmark(
        "input_jpeg_colour",
        "input: colour JPEG 512x496 to 224x224x3, shuffled, batch 64",
        "tutorial",
        64,
        partial(write_jpegs, channels=3),
        read_pictures,
        read_pictures_by_tutorial,
        goal=1.35,
    ),
    make_input_benchmark(
        "input_jpeg_full",
        "input: grey JPEG 512x496 to 224x224x3, full decode, batch 64",
        "decode_jpeg alone",
        64,
        partial(write_jpegs, channels=1),
        partial(read_pictures, full_decode=True),
        _decode_only,
        goal=0.8,
    ),
    make_input_benchmark(
        "input_jpeg_cache",
        "input: grey JPEG 512x496 to 224x224x3 from the cache, batch 64",
        "first epoch",
        64,
        partial(write_jpegs, channels=1),
        _read_with_cache,
        read_pictures,  # Without a cache, every epoch is like the first.
        goal=4.0,
        # Batches across the end of an epoch, and prefetched ones, are not in the cache yet.
        skipped=6 * _EPOCH,
    ),
)
