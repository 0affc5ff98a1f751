"""A folder of JPEG pictures: grey, coloured, each pixel decoded, and from the cache."""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.input_speed import (
    input_benchmark,
    our_pictures,
    tutorial_pictures,
    write_jpegs,
)

_EPOCH = 256 // 64


def _decode_alone(folder: Path) -> Any:
    import tensorflow as tf

    contents = [path.read_bytes() for path in sorted(folder.glob("*/*"))]
    dataset = tf.data.Dataset.from_tensor_slices(contents).repeat()
    decoded = dataset.map(
        lambda content: tf.shape(tf.io.decode_jpeg(content, channels=3)), tf.data.AUTOTUNE
    )
    return decoded.batch(64).prefetch(tf.data.AUTOTUNE)


def _first_epochs(folder: Path) -> Any:
    """Every epoch is like the first: nothing is in the cache."""
    return our_pictures(folder)


def _cached(folder: Path) -> Any:
    return our_pictures(folder, cache=folder / "cache")


BENCHMARKS = (
    input_benchmark(
        "input_jpeg_grey",
        "input: grey JPEG 512x496 to 224x224x3, shuffled, batch 64",
        "tutorial",
        64,
        partial(write_jpegs, channels=1),
        our_pictures,
        tutorial_pictures,
        goal=1.6,
    ),
    input_benchmark(
        "input_jpeg_colour",
        "input: colour JPEG 512x496 to 224x224x3, shuffled, batch 64",
        "tutorial",
        64,
        partial(write_jpegs, channels=3),
        our_pictures,
        tutorial_pictures,
        goal=1.35,
    ),
    input_benchmark(
        "input_jpeg_full",
        "input: grey JPEG 512x496 to 224x224x3, full decode, batch 64",
        "decode_jpeg alone",
        64,
        partial(write_jpegs, channels=1),
        partial(our_pictures, full_decode=True),
        _decode_alone,
        goal=0.8,
    ),
    input_benchmark(
        "input_jpeg_cache",
        "input: grey JPEG 512x496 to 224x224x3 from the cache, batch 64",
        "first epoch",
        64,
        partial(write_jpegs, channels=1),
        _cached,
        _first_epochs,
        goal=4.0,
        # Batches over the end of an epoch, and those read ahead, are not yet in the cache.
        skipped=6 * _EPOCH,
    ),
)
