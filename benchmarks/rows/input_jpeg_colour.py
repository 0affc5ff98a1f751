"""A folder of coloured JPEG pictures, beside the tutorial's pipeline as it was written."""

from functools import partial

from benchmarks.input_speed import (
    input_benchmark,
    our_pictures,
    tutorial_pictures,
    write_jpegs,
)

BENCHMARK = input_benchmark(
    "input_jpeg_colour",
    "input: colour JPEG 512x496 to 224x224x3, shuffled, batch 64",
    "tutorial",
    64,
    partial(write_jpegs, channels=3),
    our_pictures,
    tutorial_pictures,
    goal=1.35,
)
