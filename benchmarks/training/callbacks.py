"""Speed of training with tf_keras callbacks, by an Estimator's hook and by fit."""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.benchmark import OURS, Benchmark
from benchmarks.meters import make_epoch_clock
from benchmarks.training.keras_fit import measure_fit
from benchmarks.training.model import WINDOWS, TrainedModel, compute_steady_rate

MODEL = TrainedModel(
    32,
    [784],
    8_000,
    lambda layers: [layers.Dense(64, activation="relu"), layers.Dense(10)],
    optimizer="adam",
)

MakeCallbacks = Callable[[str], list[Any]]


def _train_by_fit(make_callbacks: MakeCallbacks, quick: bool) -> float:
    import tf_keras

    with tempfile.TemporaryDirectory() as directory:
        callbacks = make_callbacks(directory)
        window, dataset = MODEL.window(quick), MODEL.dataset()
        return measure_fit(tf_keras, _build_model(), dataset, window, callbacks)


def _train_by_estimator(make_callbacks: MakeCallbacks, quick: bool) -> float:
    import tf_keras

    import estimator_train as est

    window = MODEL.window(quick)
    with tempfile.TemporaryDirectory() as directory:
        marks, clock = make_epoch_clock(tf_keras, window)
        hook = est.hooks.KerasCallbacks([*make_callbacks(directory), clock], window)
        estimator = est.keras.estimator_from_fit(_build_model(), f"{directory}/model")
        estimator.train(MODEL.dataset, steps=window * WINDOWS, hooks=[hook])
    return compute_steady_rate(marks, window)


def _build_model() -> Any:
    import tf_keras

    model = MODEL.keras_model(tf_keras)
    model.compile(model.optimizer, model.loss, metrics=["accuracy"])
    return model


def make_callbacks_benchmark(name: str, title: str, make_callbacks: MakeCallbacks) -> Benchmark:
    """Returns a benchmark of training steps per second with callbacks.

    Args:
      name: Name of the benchmark.
      title: Title of the benchmark.
      make_callbacks: Function that returns the callbacks, given a directory for their files.
    """
    peers = {
        OURS: partial(_train_by_estimator, make_callbacks),
        "tf_keras fit": partial(_train_by_fit, make_callbacks),
    }
    return Benchmark(name, title, "steps/s", peers)
