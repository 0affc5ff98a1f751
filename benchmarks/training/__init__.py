"""Steady-state training speed of one model under every peer."""

from functools import partial

from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training import estimators, graph_loop, keras_fit
from benchmarks.training.model import TrainedModel

__all__ = ["TrainedModel", "training_benchmark"]


def training_benchmark(name: str, title: str, model: TrainedModel) -> Benchmark:
    """Training steps a second of an Estimator, beside the original, fit and a bare loop."""
    return Benchmark(
        name,
        title,
        "steps/s",
        {
            OURS: partial(estimators.ours, model),
            ORIGINAL: partial(estimators.original, model),
            "tf_keras fit": partial(keras_fit.fit, model),
            "in-graph loop": partial(graph_loop.loop, model),
        },
    )
