"""Throughput of one replica on one core and of two on two cores, and synchronisation cost."""

from collections.abc import Callable
from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, TORCH_WORKERS, Benchmark
from benchmarks.training.replicas import (
    measure_linear_workers,
    measure_one_replica,
    measure_synchronisation,
    measure_two_devices,
    measure_two_workers,
    measure_workers,
)

ONE_STEP = "1 step a call"


def _compare_apis(measure: Callable[..., float]) -> dict[str, Callable[..., float]]:
    return {peer: partial(measure, peer) for peer in (OURS, ORIGINAL)}


def _compare_workers(name: str, model: str, title: str, goal: float) -> Benchmark:
    peers = (OURS, ORIGINAL, TORCH_WORKERS)
    return Benchmark(
        name,
        f"2 synchronous processes with a core each, {title}",
        "steps/s",
        {peer: partial(measure_workers, model, peer) for peer in peers},
        goals={TORCH_WORKERS: goal},
    )


BENCHMARKS = (
    Benchmark(
        "scaling_one",
        "scaling: 1 replica on one core, MLP 784-512-512-10, batch 128 a replica",
        "images/s",
        _compare_apis(measure_one_replica),
    ),
    Benchmark(
        "scaling_devices",
        "scaling: 2 virtual devices on two cores, MirroredStrategy",
        "images/s",
        _compare_apis(measure_two_devices),
    ),
    Benchmark(
        "scaling_workers",
        "scaling: 2 processes with a core each, MultiWorkerMirroredStrategy",
        "images/s",
        _compare_apis(measure_two_workers),
    ),
    Benchmark(
        "scaling_synchronisation",
        "scaling: share of the step that 2 processes synchronise",
        "%",
        _compare_apis(measure_synchronisation),
        less_is_better=True,
    ),
    Benchmark(
        "workers_loop",
        "2 synchronous processes with a core each, linear 784-10, 20 steps a session call",
        "steps/s",
        {OURS: partial(measure_linear_workers, 20), ONE_STEP: partial(measure_linear_workers, 1)},
        goals={ONE_STEP: 1.5},
    ),
    _compare_workers("workers_mlp", "mlp", "MLP 784-256-256-10, Adam, batch 64", 1.2),
    _compare_workers(
        "workers_convolutions", "convolutions", "two small convolutions, Adam, batch 16", 1.0
    ),
)
