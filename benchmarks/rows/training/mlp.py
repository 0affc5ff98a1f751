"""A small dense network with Adam, with a few dozen operations in a step."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks.training import FIT, TrainedModel, make_training_benchmark


def _keras_layers(layers: ModuleType) -> list[Any]:
    return [
        layers.Dense(64, activation="relu", name="hidden"),
        layers.Dense(10, name="logits"),
    ]


def _logits(variable: Callable[..., Any], x: Any) -> Any:
    import tensorflow as tf

    hidden = tf.nn.relu(x @ variable("hidden/kernel", (784, 64)) + variable("hidden/bias", (64,)))
    return hidden @ variable("logits/kernel", (64, 10)) + variable("logits/bias", (10,))


BENCHMARK = make_training_benchmark(
    "mlp",
    "train: MLP 784-64-10, Adam, batch 32",
    TrainedModel(32, [784], 8_000, _keras_layers, optimizer="adam", logits=_logits),
    {FIT: 1.1},
)
