"""Rows of arrays: tiny ones, which measure only the pipeline, and pictures of MNIST's size."""

from benchmarks.input_speed import make_arrays_benchmark

BENCHMARKS = (
    make_arrays_benchmark(
        "input_images", "input: arrays of 28x28 floats, batch 128", 20_000, [28, 28], goal=1.0
    ),
    make_arrays_benchmark(
        "input_arrays", "input: arrays of 4 floats, batch 128", 60_000, [4], goal=2.0
    ),
)
