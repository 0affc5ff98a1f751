"""Keras 3 models that a function builds, and models that an Estimator refuses.

These tests cover `keras3/blueprint.py`, `keras3/family.py`, `keras3/keras_internals.py` and
`keras/build_settings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras_3_models import LossRecorder, X, dataset, fit_losses

import estimator_train as est

layers = keras.layers


class WithLayers(keras.Model):
    """Model that has no config: its constructor takes a layer of the caller."""

    def __init__(self, first: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first = first
        self.last = layers.Dense(1)

    def get_config(self) -> Any:
        raise NotImplementedError

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return self.last(self.first(x))


class TwoOptimizers(keras.Model):
    """Model with two optimizers, which its own compile() takes."""

    def __init__(self) -> None:
        super().__init__()
        self.one = keras.Sequential([layers.Input([4]), layers.Dense(1)])
        self.two = keras.Sequential([layers.Input([1]), layers.Dense(1)])

    def compile(self, one: Any, two: Any) -> None:
        super().compile()
        self.optimizers = one, two
        self.trackers = [keras.metrics.Mean(name="first"), keras.metrics.Mean(name="second")]

    @property
    def metrics(self) -> list[Any]:
        return self.trackers

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        x, y = data
        for model, inputs, optimizer, tracker in zip(
            (self.one, self.two), (x, y), self.optimizers, self.trackers, strict=True
        ):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(inputs) - y) ** 2)
            variables = model.trainable_variables
            optimizer.apply(tape.gradient(loss, variables), variables)
            tracker.update_state(loss)
        return {tracker.name: tracker.result() for tracker in self.trackers}


def input_fn() -> tf.data.Dataset:
    return dataset("linear").repeat()


def with_layers(params: dict[str, Any]) -> keras.Model:
    keras.utils.set_random_seed(params["seed"])
    return WithLayers(layers.Dense(3, activation="tanh"))


def test_a_model_without_a_config_is_built_in_each_graph(tmp_path: Path) -> None:
    model_fn = est.keras.model_fn(
        with_layers, "mse", lambda params: keras.optimizers.SGD(params["rate"]), ["mae"]
    )
    estimator = est.Estimator(model_fn, tmp_path, params={"seed": 3, "rate": 0.05})
    recorder = LossRecorder()
    estimator.train(input_fn, hooks=[recorder], steps=20)
    assert recorder.losses[-1] < 0.5 * recorder.losses[0]
    assert set(estimator.evaluate(lambda: dataset("linear"))) == {"loss", "mae", "global_step"}
    names = estimator.get_variable_names()
    assert "with_layers/dense/kernel" in names
    model = with_layers({"seed": 3})
    model(X[:1])
    model.compile("sgd", "mse", metrics=["mae"])
    est.keras.load_trained(model, estimator)
    (row,) = (next(iter(estimator.predict(lambda: tf.data.Dataset.from_tensors(X[:1])))),)
    np.testing.assert_allclose(row["output_1"], model.predict(X[:1], verbose=0)[0], rtol=1e-6)


def test_compile_in_a_build_fn_is_kept(tmp_path: Path) -> None:
    def build() -> keras.Model:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([layers.Input([4]), layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.01, momentum=0.9), "mae")
        return model

    recorder = LossRecorder()
    estimator = est.Estimator(est.keras.model_fn(build), tmp_path)
    estimator.train(input_fn, hooks=[recorder], steps=20)
    assert recorder.losses == pytest.approx(fit_losses(build(), dataset("linear"), 20), rel=1e-5)


def test_gradients_are_accumulated(tmp_path: Path) -> None:
    def build() -> keras.Model:
        keras.utils.set_random_seed(1)
        return keras.Sequential([layers.Input([4]), layers.Dense(1)])

    model_fn = est.keras.model_fn(build, "mse", "sgd", gradient_accumulation_steps=2)
    estimator = est.Estimator(model_fn, tmp_path).train(input_fn, steps=8)
    model = build()
    model.compile("sgd", "mse")
    model.fit(dataset("linear", 16).repeat(), steps_per_epoch=4, verbose=0)
    np.testing.assert_allclose(
        estimator.get_variable_value("dense/kernel"), model.layers[0].kernel, rtol=1e-5
    )


@pytest.mark.long
def test_a_model_with_two_optimizers_trains_and_resumes(tmp_path: Path) -> None:
    def build() -> keras.Model:
        keras.utils.set_random_seed(1)
        model = TwoOptimizers()
        model.compile(keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.1))
        return model

    estimator = est.Estimator(est.keras.model_fn(build), tmp_path)
    recorder = LossRecorder()
    for _ in range(2):
        estimator.train(input_fn, hooks=[recorder], steps=20)
    assert recorder.losses[-1] < 0.5 * recorder.losses[0]
    names = estimator.get_variable_names()
    counts = [name for name in names if re.search(r"/iteration(_\d+)?$", name)]
    assert sorted(int(estimator.get_variable_value(name)) for name in counts)[-2:] == [40, 40]


def compiled(model: keras.Model, **arguments: Any) -> keras.Model:
    model.compile("sgd", "mse", **arguments)
    return model


class Reading(layers.Layer):
    def call(self, x: tf.Tensor) -> tf.Tensor:
        return x * float(x.numpy().sum())


def functional(*added: Any) -> keras.Model:
    return keras.Sequential([layers.Input([4]), *added, layers.Dense(1)])


def own_compile() -> keras.Model:
    model = TwoOptimizers()
    model.compile("sgd", "sgd")
    return model


BAD: dict[str, tuple[Callable[[], keras.Model], str]] = {
    "not compiled": (functional, r"not been compiled.*Call model.compile"),
    "no config": (
        lambda: compiled(WithLayers(layers.Dense(1))),
        r"WithLayers cannot be made again.*keras\.model_fn\(build\)",
    ),
    "own compile": (own_compile, r"TwoOptimizers has its own compile\(\).*keras\.model_fn\(build"),
    "eager": (
        lambda: compiled(functional(), run_eagerly=True),
        r"run_eagerly=True.*Compile it with run_eagerly=False",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_models_that_a_graph_cannot_run_are_refused(case: str) -> None:
    build, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        est.keras.model_to_estimator(build())


def test_eager_code_in_a_layer_is_named(tmp_path: Path) -> None:
    class Lazy(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.reading = Reading()

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return self.reading(x)

    estimator = est.Estimator(est.keras.model_fn(lambda: compiled(Lazy())), tmp_path)
    with pytest.raises(ValueError, match=r"runs eager code, such as \.numpy\(\).*keras\.ops"):
        estimator.train(input_fn, steps=1)


def test_optimizers_that_keras_3_does_not_take_are_refused_by_its_own_errors(
    tmp_path: Path,
) -> None:
    for optimizer, message in (
        ({".*": "sgd"}, "trains models of tf_keras only.*Write a train_step"),
        (keras.optimizers.SGD, "^Could not interpret optimizer identifier"),
    ):
        estimator = est.Estimator(est.keras.model_fn(functional, "mse", optimizer), tmp_path)
        with pytest.raises(ValueError, match=message):
            estimator.train(input_fn, steps=1)


def test_a_model_is_compiled_in_one_place(tmp_path: Path) -> None:
    twice = est.Estimator(est.keras.model_fn(lambda: compiled(functional()), "mae"), tmp_path)
    with pytest.raises(ValueError, match="in one place"):
        twice.train(input_fn, steps=1)
    never = est.Estimator(est.keras.model_fn(functional), tmp_path)
    with pytest.raises(ValueError, match=r"give a loss and an optimizer to keras\.model_fn"):
        never.train(input_fn, steps=1)


def test_another_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Keras cannot be imported with a backend that is not installed.
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(ValueError, match="Keras uses jax. Set .* KERAS_BACKEND=tensorflow"):
        est.keras.model_to_estimator(compiled(functional()))


def variables(model_dir: Path) -> dict[str, np.ndarray]:
    shapes = tf.train.list_variables(model_dir)
    return {name: tf.train.load_variable(model_dir, name) for name, shape in shapes if shape}


def test_a_checkpoint_of_tf_keras_is_named(tmp_path: Path) -> None:
    import tf_keras

    old = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(4,))])
    old.compile("sgd", "mse")
    est.keras.model_to_estimator(old, model_dir=tmp_path).train(input_fn, steps=1)
    model = compiled(functional())
    estimator = est.keras.model_to_estimator(model, model_dir=tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match=r"load the weights by keras\.load_trained"):
        estimator.train(input_fn, steps=1)
    est.keras.load_trained(model, tmp_path)
    (kernel,) = (v for n, v in variables(tmp_path).items() if "kernel" in n and v.size == 4)
    np.testing.assert_array_equal(model.layers[0].kernel, kernel)
