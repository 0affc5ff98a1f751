"""The benchmarks, one file each; a new one is added to the list here."""

from benchmarks.benchmark import Benchmark
from benchmarks.rows import convnet, linear, mlp

BENCHMARKS: dict[str, Benchmark] = {
    row.BENCHMARK.name: row.BENCHMARK for row in (linear, mlp, convnet)
}
