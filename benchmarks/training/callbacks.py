"""Speed of training with tf_keras callbacks: by an Estimator's hook, and by fit."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.benchmark import OURS, Benchmark
from benchmarks.training.model import WINDOWS, TrainedModel, steady_rate

MODEL = TrainedModel(
    32,
    [784],
    8_000,
    lambda layers: [layers.Dense(64, activation="relu"), layers.Dense(10)],
    optimizer="adam",
)


Made = Callable[[str], list[Any]]


def _by_fit(made: Made, quick: bool) -> float:
    window = MODEL.window(quick)
    with tempfile.TemporaryDirectory() as directory:
        marks, clock = _clock(window)
        _built().fit(
            MODEL.dataset(),
            epochs=WINDOWS,
            steps_per_epoch=window,
            callbacks=[*made(directory), clock],
            verbose=0,
        )
    return steady_rate(marks, window)


def _by_estimator(made: Made, quick: bool) -> float:
    import estimator_train as est

    window = MODEL.window(quick)
    with tempfile.TemporaryDirectory() as directory:
        marks, clock = _clock(window)
        hook = est.hooks.KerasCallbacks([*made(directory), clock], window)
        estimator = est.keras.estimator_from_fit(_built(), f"{directory}/model")
        estimator.train(MODEL.dataset, steps=window * WINDOWS, hooks=[hook])
    return steady_rate(marks, window)


def _built() -> Any:
    import tf_keras

    model = MODEL.keras_model(tf_keras)
    model.compile(model.optimizer, model.loss, metrics=["accuracy"])
    return model


def _clock(window: int) -> tuple[list[tuple[int, float]], Any]:
    """Marks of (step, time in seconds), and the callback that makes them; an epoch is a window."""
    import tf_keras

    marks: list[tuple[int, float]] = []
    callback = tf_keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: marks.append(((epoch + 1) * window, time.time()))
    )
    return marks, callback


def callbacks_benchmark(name: str, title: str, made: Made) -> Benchmark:
    """Training steps a second with callbacks.

    Args:
      name: Of the row.
      title: Of the row.
      made: Makes the callbacks, of a directory for what they write.
    """
    peers = {OURS: partial(_by_estimator, made), "tf_keras fit": partial(_by_fit, made)}
    return Benchmark(name, title, "steps/s", peers)
