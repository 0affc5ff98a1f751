"""The ConvNet of the tutorial, a Keras model, on images of Fashion-MNIST's size."""

from typing import Any

from benchmarks.benchmark import ORIGINAL
from benchmarks.training import LOOP, TrainedModel, training_benchmark


def _keras_layers(layers: Any) -> list[Any]:
    return [
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(10, name="logits"),
    ]


MODEL = TrainedModel(128, [28, 28, 1], 1_000, _keras_layers, optimizer="adam")
BENCHMARK = training_benchmark(
    "convnet",
    "train: ConvNet of the tutorial, 28x28, Adam, batch 128",
    MODEL,
    {ORIGINAL: 1.03, LOOP: 0.98},
)
