"""What synchronisation takes of a step, as two processes measure it."""

from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training.replicas import cost_of_synchronisation

BENCHMARK = Benchmark(
    "scaling_synchronisation",
    "scaling: share of the step that 2 processes synchronise",
    "%",
    {peer: partial(cost_of_synchronisation, peer) for peer in (OURS, ORIGINAL)},
    less_is_better=True,
)
