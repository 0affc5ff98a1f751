"""Rows of arrays: so small that only the pipeline's own work counts, and of the size of MNIST's."""

from benchmarks.input_speed import arrays_benchmark

BENCHMARKS = (
    arrays_benchmark(
        "input_images", "input: arrays of 28x28 floats, batch 128", 20_000, [28, 28], goal=1.0
    ),
    arrays_benchmark("input_arrays", "input: arrays of 4 floats, batch 128", 60_000, [4], goal=2.0),
)
