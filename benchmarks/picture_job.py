"""Typical jobs of users: a Keras model as an Estimator, on arrays of pictures in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from benchmarks.apis import Apis

SIDE, CLASSES = 28, 10
_SHUFFLE_BUFFER = 5000


@dataclass(frozen=True)
class PictureJob:
    """A Keras model with Adam and accuracy, and its input.

    Attributes:
      name: Short name for the table.
      batch: Number of pictures in a step.
      steps: Number of steps in a measurement, including the warm-up.
      channels: Whether a picture has a dimension for its single channel.
      layers: Function that returns the layers, given a `layers` module.
    """

    name: str
    batch: int
    steps: int
    channels: bool
    layers: Callable[[Any], list[Any]]

    def model(self, keras: ModuleType, **settings: Any) -> Any:
        """Returns the compiled Sequential; `settings` are arguments of `compile`."""
        shape = (SIDE, SIDE, 1) if self.channels else (SIDE, SIDE)
        layers = [keras.layers.Input(shape, name="x"), *self.layers(keras.layers)]
        model = keras.Sequential(layers)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(), loss, metrics=["accuracy"], **settings)
        return model

    def estimator(self, apis: Apis, model_dir: str, **settings: Any) -> Any:
        """Returns the model as an Estimator; `settings` are arguments of its RunConfig."""
        config = apis.estimator.RunConfig(model_dir, **settings)
        return apis.converter.model_to_estimator(self.model(apis.keras), config=config)

    def pictures(self, count: int) -> tuple[Any, Any]:
        """Returns noise in the shape of the model's input, float32, and int64 classes."""
        import numpy as np

        x = np.random.RandomState(0).standard_normal([count, SIDE, SIDE]).astype(np.float32)
        return (x[..., np.newaxis] if self.channels else x), np.arange(count) % CLASSES

    def training_input(self, x: Any, y: Any) -> Any:
        """Returns shuffled batches of an infinite dataset."""
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(_SHUFFLE_BUFFER)
        return data.repeat().batch(self.batch).prefetch(2)


def _mlp(layers: ModuleType) -> list[Any]:
    return [layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(CLASSES)]


def _convnet(layers: ModuleType) -> list[Any]:
    return [
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        *_mlp(layers),
    ]


LINEAR = PictureJob(
    "linear 784-10", 32, 20_000, False, lambda layers: [layers.Flatten(), layers.Dense(CLASSES)]
)
MLP = PictureJob("MLP 784-64-10", 32, 20_000, False, _mlp)
CONVNET = PictureJob("the tutorial's ConvNet", 128, 1_000, True, _convnet)
