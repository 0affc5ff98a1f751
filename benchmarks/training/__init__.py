"""Steady-state training speed of a model with each peer."""

from collections.abc import Mapping
from functools import partial

from benchmarks.apis import APIS
from benchmarks.benchmark import ORIGINAL, OURS, Benchmark
from benchmarks.training import estimators, graph_loop, keras_fit
from benchmarks.training.model import TrainedModel

__all__ = ["FIT", "LOOP", "TrainedModel", "make_training_benchmark"]

FIT = "tf_keras fit"
LOOP = "in-graph loop"


def make_training_benchmark(
    name: str, title: str, model: TrainedModel, goals: Mapping[str, float]
) -> Benchmark:
    """Returns a benchmark of training steps per second, with all peers."""
    return Benchmark(
        name,
        title,
        "steps/s",
        {
            OURS: partial(estimators.train_by_estimator, model, APIS[OURS]),
            ORIGINAL: partial(estimators.train_by_estimator, model, APIS[ORIGINAL]),
            FIT: partial(keras_fit.train_by_fit, model),
            LOOP: partial(graph_loop.train_in_loop, model),
        },
        goals=goals,
    )
