"""Steady-state training speed of one model under every peer."""

from collections.abc import Mapping
from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training import estimators, graph_loop, keras_fit
from benchmarks.training.model import TrainedModel

__all__ = ["FIT", "LOOP", "TrainedModel", "training_benchmark"]

FIT = "tf_keras fit"
LOOP = "in-graph loop"


def training_benchmark(
    name: str, title: str, model: TrainedModel, goals: Mapping[str, float]
) -> Benchmark:
    """Training steps a second of an Estimator, beside tf.estimator 2.15, `FIT` and `LOOP`."""
    return Benchmark(
        name,
        title,
        "steps/s",
        {
            OURS: partial(estimators.ours, model),
            ORIGINAL: partial(estimators.original, model),
            FIT: partial(keras_fit.fit, model),
            LOOP: partial(graph_loop.loop, model),
        },
        goals=goals,
    )
