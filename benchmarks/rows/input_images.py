"""Rows of an array the size of MNIST's pictures."""

from benchmarks.input_speed import arrays_benchmark

BENCHMARK = arrays_benchmark(
    "input_images", "input: arrays of 28x28 floats, batch 128", 20_000, [28, 28], goal=1.0
)
