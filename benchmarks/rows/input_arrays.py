"""Rows of an array that are so small that only the pipeline's own work counts."""

from benchmarks.input_speed import arrays_benchmark

BENCHMARK = arrays_benchmark(
    "input_arrays", "input: arrays of 4 floats, batch 128", 60_000, [4], goal=2.0
)
