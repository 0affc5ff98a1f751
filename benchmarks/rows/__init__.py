"""All benchmarks of the table. A new one is added to the list of its package."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import calls, clicks, inputs, keras, processes, scaling, training

_PACKAGES = (training, keras, clicks, scaling, calls, processes, inputs)

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark for package in _PACKAGES for benchmark in package.BENCHMARKS
}
