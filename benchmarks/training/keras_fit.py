"""Speed of the fit method of Keras."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from benchmarks.meters import make_epoch_clock
from benchmarks.training.model import WINDOWS, TrainedModel, compute_steady_rate


def train_by_fit(model: TrainedModel, quick: bool) -> float:
    """Returns the steps per second of tf_keras's fit."""
    import tf_keras

    return measure_fit(tf_keras, model.keras_model(tf_keras), model.dataset(), model.window(quick))


def measure_fit(
    keras: ModuleType, model: Any, dataset: Any, window: int, callbacks: Iterable[Any] = ()
) -> float:
    """Returns the steps per second of fit, with epochs of one window.

    Args:
      keras: The Keras of the model.
      model: The compiled model.
      dataset: Infinite batches of (x, class).
      window: Number of steps in a window.
      callbacks: Further callbacks.
    """
    marks, clock = make_epoch_clock(keras, window)
    model.fit(
        dataset,
        epochs=WINDOWS,
        steps_per_epoch=window,
        callbacks=[*callbacks, clock],
        verbose=0,
    )
    return compute_steady_rate(marks, window)
