"""All benchmarks of the table. A new one is added to the list of its package."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import (
    calls,
    click_tables,
    clicks,
    gpu,
    inputs,
    keras,
    processes,
    scaling,
    training,
)

_PACKAGES = (training, keras, clicks, click_tables, scaling, calls, processes, inputs)

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark for package in _PACKAGES for benchmark in package.BENCHMARKS
}

# These compare ways to train on one GPU; on a machine without a GPU they only try the code.
GPU_BENCHMARKS: dict[str, Benchmark] = {benchmark.name: benchmark for benchmark in gpu.BENCHMARKS}
