"""Two virtual devices of one process."""

from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training.replicas import two_devices

BENCHMARK = Benchmark(
    "scaling_devices",
    "scaling: 2 virtual devices on two cores, MirroredStrategy",
    "images/s",
    {peer: partial(two_devices, peer) for peer in (OURS, ORIGINAL)},
)
