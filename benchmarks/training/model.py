"""A model for speed measurements: its Keras form, its graph form, its data and its speed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

WINDOWS = 10
WARM_UP = 3
CLASSES = 10
EXAMPLES = 512
LEARNING_RATE = 0.001


@dataclass(frozen=True)
class TrainedModel:
    """A classifier of ten classes, and the length of its training.

    Attributes:
      batch: Number of examples in a step.
      shape: Shape of an example.
      steps: Number of steps in a measurement, including the warm-up; a multiple of `WINDOWS`.
      keras_layers: Function that returns the layers of a Sequential, given a `layers` module.
      optimizer: "sgd" or "adam".
      logits: Function from (variable, x) to the logits, where `variable(name, shape)` creates a
        variable. With this function the Estimator trains a model_fn; with None, a Keras model.
    """

    batch: int
    shape: Sequence[int]
    steps: int
    keras_layers: Callable[[Any], list[Any]]
    optimizer: str
    logits: Callable[[Callable[[str, tuple[int, ...]], Any], Any], Any] | None = None

    def window(self, quick: bool) -> int:
        """Returns the number of steps between two readings of the clock."""
        return 2 if quick else self.steps // WINDOWS

    def dataset(self) -> Any:
        """Returns infinite batches (x, class) of noise: float32 [batch, *shape], int64 [batch]."""
        import numpy as np
        import tensorflow as tf

        x = np.random.RandomState(0).standard_normal([EXAMPLES, *self.shape])
        y: Any = np.arange(EXAMPLES) % CLASSES
        data = tf.data.Dataset.from_tensor_slices((x.astype(np.float32), y))
        return data.repeat().batch(self.batch, drop_remainder=True).prefetch(2)

    def keras_model(self, keras: ModuleType) -> Any:
        """Returns the compiled Sequential model."""
        model = keras.Sequential(
            [keras.layers.Input(self.shape, name="x"), *self.keras_layers(keras.layers)]
        )
        optimizers = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam}
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizers[self.optimizer](LEARNING_RATE), loss)
        return model

    def v1_optimizer(self) -> Any:
        """Returns the optimizer for graph-mode code."""
        import tensorflow as tf

        train = tf.compat.v1.train
        optimizers = {"sgd": train.GradientDescentOptimizer, "adam": train.AdamOptimizer}
        return optimizers[self.optimizer](LEARNING_RATE)


def variable(name: str, shape: tuple[int, ...]) -> Any:
    """Returns a variable of the default graph with small random values."""
    import tensorflow as tf

    initializer = tf.compat.v1.random_normal_initializer(stddev=0.05)
    return tf.compat.v1.get_variable(name, shape, initializer=initializer, use_resource=True)


def cross_entropy(logits: Any, classes: Any) -> Any:
    """Returns the mean loss of a batch, a scalar."""
    import tensorflow as tf

    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    )


def compute_steady_rate(marks: Sequence[tuple[int, float]], window: int) -> float:
    """Returns the steps per second between the first reading after the warm-up and the last.

    Args:
      marks: Pairs of (step, time in seconds), in order.
      window: Number of steps in a window; the warm-up has `WARM_UP` windows.
    """
    (first_step, start), *_, (last_step, end) = (
        mark for mark in marks if mark[0] >= WARM_UP * window
    )
    return (last_step - first_step) / (end - start)
