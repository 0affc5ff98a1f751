"""Two processes in step, each on a core of its own."""

from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training.replicas import two_workers

BENCHMARK = Benchmark(
    "scaling_workers",
    "scaling: 2 processes with a core each, MultiWorkerMirroredStrategy",
    "images/s",
    {peer: partial(two_workers, peer) for peer in (OURS, ORIGINAL)},
)
