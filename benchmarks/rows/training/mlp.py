"""A small dense network with Adam: a few dozen operations a step."""

from typing import Any

from benchmarks.training import FIT, TrainedModel, training_benchmark


def _keras_layers(layers: Any) -> list[Any]:
    return [
        layers.Dense(64, activation="relu", name="hidden"),
        layers.Dense(10, name="logits"),
    ]


def _logits(variable: Any, x: Any) -> Any:
    import tensorflow as tf

    hidden = tf.nn.relu(x @ variable("hidden/kernel", (784, 64)) + variable("hidden/bias", (64,)))
    return hidden @ variable("logits/kernel", (64, 10)) + variable("logits/bias", (10,))


BENCHMARK = training_benchmark(
    "mlp",
    "train: MLP 784-64-10, Adam, batch 32",
    TrainedModel(32, [784], 8_000, _keras_layers, optimizer="adam", logits=_logits),
    {FIT: 1.1},
)
