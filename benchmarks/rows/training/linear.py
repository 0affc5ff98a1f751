"""Softmax regression: a tiny step, whose time is mostly work of the host."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.benchmark import ORIGINAL
from benchmarks.training import LOOP, TrainedModel, make_training_benchmark


def _keras_layers(layers: ModuleType) -> list[Any]:
    return [layers.Dense(10, name="logits")]


def _logits(variable: Callable[..., Any], x: Any) -> Any:
    return x @ variable("kernel", (784, 10)) + variable("bias", (10,))


BENCHMARK = make_training_benchmark(
    "linear",
    "train: linear 784-10, SGD, batch 32",
    TrainedModel(32, [784], 10_000, _keras_layers, optimizer="sgd", logits=_logits),
    {ORIGINAL: 3.0, LOOP: 0.95},
)
