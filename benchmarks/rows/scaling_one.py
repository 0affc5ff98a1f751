"""One replica on one core: what two are to be compared with."""

from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training.replicas import one_replica

BENCHMARK = Benchmark(
    "scaling_one",
    "scaling: 1 replica on one core, MLP 784-512-512-10, batch 128 a replica",
    "images/s",
    {peer: partial(one_replica, peer) for peer in (OURS, ORIGINAL)},
)
