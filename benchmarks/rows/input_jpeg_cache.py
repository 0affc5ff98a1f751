"""The second epoch of a folder of JPEG pictures from the cache, beside the first."""

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.input_speed import input_benchmark, our_pictures, write_jpegs

_EPOCH = 256 // 64


def _first_epochs(folder: Path) -> Any:
    """Like first epochs for ever: nothing is in the cache."""
    return our_pictures(folder)


def _cached(folder: Path) -> Any:
    return our_pictures(folder, cache=folder / "cache")


BENCHMARK = input_benchmark(
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
)
