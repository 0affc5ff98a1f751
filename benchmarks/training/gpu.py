"""Training speed on a GPU, with input from the host, of Keras models of both families."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from benchmarks.training.estimators import read_marks
from benchmarks.training.keras_fit import measure_fit
from benchmarks.training.model import CLASSES, WINDOWS, compute_steady_rate

STEPS_PER_EXECUTION = 20
_EXAMPLES = 8192


@dataclass(frozen=True)
class GpuModel:
    """A classifier of ten classes that is built with either Keras.

    Attributes:
      batch: Number of examples in a step.
      steps: Number of steps in a measurement, including the warm-up.
      shape: Shape of an example.
      build: Function from (keras, input) to the logits.
      ids: Number of ids if an example has ids instead of float32 values; or None.
    """

    batch: int
    steps: int
    shape: tuple[int, ...]
    build: Callable[[ModuleType, Any], Any]
    ids: int | None = None

    def window(self, quick: bool) -> int:
        """Returns the number of steps between two readings of the clock."""
        return STEPS_PER_EXECUTION if quick else self.steps // WINDOWS

    def dataset(self) -> Any:
        """Returns infinite batches of (x [batch, *shape], int64 classes [batch])."""
        import numpy as np
        import tensorflow as tf

        random = np.random.RandomState(0)
        size = (_EXAMPLES, *self.shape)
        if self.ids is None:
            x = random.standard_normal(size).astype(np.float32)
        else:
            x = random.randint(0, self.ids, size).astype(np.int32)
        data = tf.data.Dataset.from_tensor_slices((x, np.arange(_EXAMPLES) % CLASSES))
        return data.shuffle(_EXAMPLES).repeat().batch(self.batch, drop_remainder=True).prefetch(2)

    def keras_model(self, keras: ModuleType, **settings: Any) -> Any:
        """Returns the compiled model; `settings` are arguments of `compile`."""
        x = keras.layers.Input(
            self.shape, name="x", dtype="float32" if self.ids is None else "int32"
        )
        model = keras.Model(x, self.build(keras, x))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(0.001), loss, **settings)
        return model


def train_by_estimator(model: GpuModel, quick: bool, **settings: Any) -> float:
    """Returns the steps per second of an Estimator; `settings` are arguments of its RunConfig."""
    import tf_keras

    import estimator_train as est

    window = model.window(quick)
    with tempfile.TemporaryDirectory() as model_dir:
        config = est.RunConfig(model_dir, log_step_count_steps=min(window, 100), **settings)
        estimator = est.keras.model_to_estimator(model.keras_model(tf_keras), config=config)
        estimator.train(model.dataset, steps=window * WINDOWS + 1)
        return compute_steady_rate(read_marks(model_dir), window)


def train_by_fit(model: GpuModel, quick: bool) -> float:
    """Returns the steps per second of tf_keras's fit, with many steps in a call."""
    import tf_keras

    return _fit(model, tf_keras, quick)


def train_by_keras_3_fit(model: GpuModel, quick: bool) -> float:
    """Returns the steps per second of Keras 3's fit, with many steps in a call."""
    import keras

    return _fit(model, keras, quick)


def _fit(model: GpuModel, keras: ModuleType, quick: bool) -> float:
    compiled = model.keras_model(keras, steps_per_execution=STEPS_PER_EXECUTION)
    return measure_fit(keras, compiled, model.dataset(), model.window(quick))
