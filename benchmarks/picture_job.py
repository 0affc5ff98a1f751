"""Jobs as users write them: a Keras model as an Estimator, on arrays of pictures in memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.apis import Apis

SIDE, CLASSES = 28, 10
_SHUFFLED = 5000


@dataclass(frozen=True)
class PictureJob:
    """A Keras model with Adam and accuracy, and how it is trained.

    Attributes:
      name: Short, for the table.
      batch: Pictures of a step.
      steps: Of one measurement, warm-up included.
      channels: Whether a picture has a dimension for its one channel.
      layers: Makes the layers from a `layers` module.
    """

    name: str
    batch: int
    steps: int
    channels: bool
    layers: Callable[[Any], list[Any]]

    def model(self, keras: Any, **settings: Any) -> Any:
        """The compiled Sequential; `settings` go to `compile`."""
        shape = (SIDE, SIDE, 1) if self.channels else (SIDE, SIDE)
        layers = [keras.layers.Input(shape, name="x"), *self.layers(keras.layers)]
        model = keras.Sequential(layers)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(), loss, metrics=["accuracy"], **settings)
        return model

    def estimator(self, apis: Apis, model_dir: str, **settings: Any) -> Any:
        """The model as an Estimator of either API; `settings` are those of its RunConfig."""
        config = apis.estimator.RunConfig(model_dir, **settings)
        to_estimator = apis.keras.estimator.model_to_estimator
        return to_estimator(self.model(apis.keras), config=config)

    def pictures(self, count: int) -> tuple[Any, Any]:
        """Noise in float32, in the model's shape, and int64 classes."""
        import numpy as np

        x = np.random.RandomState(0).standard_normal([count, SIDE, SIDE]).astype(np.float32)
        return (x[..., np.newaxis] if self.channels else x), np.arange(count) % CLASSES

    def training_input(self, x: Any, y: Any) -> Any:
        """Shuffled batches without end."""
        import tensorflow as tf

        data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(_SHUFFLED)
        return data.repeat().batch(self.batch).prefetch(2)


def _mlp(layers: Any) -> list[Any]:
    return [layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(CLASSES)]


def _convnet(layers: Any) -> list[Any]:
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
MLP = PictureJob("MLP 784-64-10", 32, 10_000, False, _mlp)
CONVNET = PictureJob("the tutorial's ConvNet", 128, 1_000, True, _convnet)


def clock() -> Any:
    """A hook that notes when the first step was made, and lets the others run in loops."""
    import tensorflow as tf

    class Clock(tf.compat.v1.train.SessionRunHook):
        first: float | None = None

        def steps_until_due(self, global_step: int) -> int | None:
            return 1 if self.first is None else None

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.first = self.first or time.perf_counter()

    return Clock()
