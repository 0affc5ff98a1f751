"""Behaviours with values of unusual kinds: losses, names of features, features that convert."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case
from cases_keras import dense, keras_input
from cases_keras_exports import served
from jobs import Api, tiny_data, tiny_estimator, tiny_input, tiny_parts, trained, values

tf1 = tf.compat.v1


@case
def loss_of_integers(api: Api, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = tf1.get_variable("w", initializer=[1, 2])
        train_op = tf.group(weight.assign_add([1, 1]), tf1.train.get_global_step().assign_add(1))
        loss = tf.reduce_sum(weight) + 0 * tf.size(features["x"])
        return api.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(tiny_input, steps=4)
    return estimator.get_variable_value("w").tolist()


@case
def predict_keys_from_a_generator(api: Api, model_dir: str) -> Any:
    keys = (name for name in ["score"])
    rows = trained(api, model_dir).predict(lambda: tiny_input(repeat=1), predict_keys=keys)
    return sorted(next(iter(rows)))


@case
def loss_that_is_a_variable(api: Api, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        loss = tf1.get_variable("loss_so_far", initializer=3.0)
        step = tf1.train.get_global_step()
        train_op = tf.group(loss.assign_sub(0.5), step.assign_add(1))
        return api.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(tiny_input, steps=3)
    return float(estimator.evaluate(tiny_input, steps=1)["loss"])


def _mixed_names() -> Any:
    x, y = tiny_data()
    return {"x": tf.constant(x), 42: tf.constant(x * 2)}, tf.constant(y)


def _by_mixed_names(verb: str, call: Callable[[Any, Api, str], Any]) -> None:
    def run(api: Api, model_dir: str) -> Any:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            parts = tiny_parts({"x": features["x"] + features[42]}, labels)
            return api.estimator.EstimatorSpec(mode, **parts)

        trained(api, model_dir)
        return call(tiny_estimator(api, model_dir, model_fn=model_fn), api, model_dir)

    run.__name__ = f"{verb}_on_features_named_by_int_and_str"
    case(run)


def _train_on_mixed(estimator: Any, api: Api, model_dir: str) -> Any:
    estimator.train(_mixed_names, steps=2)
    return estimator.get_variable_value("weight").tolist()


def _predict_on_mixed(estimator: Any, api: Api, model_dir: str) -> Any:
    rows = estimator.predict(lambda: (_mixed_names()[0], None), yield_single_examples=False)
    return next(iter(rows))["score"].tolist()


def _export_on_mixed(estimator: Any, api: Api, model_dir: str) -> Any:
    def receiver() -> Any:
        x = tf1.placeholder(tf.float32, [None, 2])
        return api.estimator.export.ServingInputReceiver({"x": x, 42: x * 2}, {"x": x})

    return served(estimator.export_saved_model(model_dir + "/export", receiver))


_by_mixed_names("train", _train_on_mixed)
_by_mixed_names(
    "evaluate",
    lambda estimator, api, model_dir: float(estimator.evaluate(_mixed_names, steps=1)["loss"]),
)
_by_mixed_names("predict", _predict_on_mixed)
_by_mixed_names("export", _export_on_mixed)


class Wrapped:
    """Holds a tensor, as which TensorFlow takes it."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _to_tensor(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    return tf.identity(value.tensor, name=name)


tf.register_tensor_conversion_function(Wrapped, _to_tensor)


class Plain:
    """Holds a tensor without TensorFlow's knowledge."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _receiver_of(api: Api, kind: type, supervised: bool, in_dict: bool) -> Any:
    def receiver() -> Any:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        features = {"x": kind(x)} if in_dict else kind(x)
        export = api.estimator.export
        if not supervised:
            return export.ServingInputReceiver(features, {"x": x})
        labels = kind(tf1.placeholder(tf.float32, [None], name="y"))
        return _supervised_receiver(api)(features, labels, {"x": x})

    return receiver


def _supervised_receiver(api: Api) -> Any:
    found = api.estimator.experimental.build_raw_supervised_input_receiver_fn(
        {"a": tf1.placeholder(tf.float32, [None])}, tf1.placeholder(tf.float32, [None])
    )()
    return type(found)


def _converting(name: str, kind: type, supervised: bool, in_dict: bool) -> None:
    def run(api: Api, model_dir: str) -> Any:
        with tf.Graph().as_default():
            found = _receiver_of(api, kind, supervised, in_dict)()
            features = found.features
            shown = list(features.values()) if isinstance(features, dict) else [features]
            return [type(features).__name__, [type(value).__name__ for value in shown]]

    run.__name__ = f"receiver_of_{name}"
    case(run)


_converting("a_wrapped_tensor", Wrapped, False, False)
_converting("wrapped_tensors", Wrapped, False, True)
_converting("wrapped_tensors_and_labels", Wrapped, True, True)
_converting("a_plain_object", Plain, False, False)
_converting("plain_objects", Plain, False, True)


@case
def export_of_wrapped_features(api: Api, model_dir: str) -> Any:
    estimator = trained(api, model_dir)

    def receiver() -> Any:
        x = tf1.placeholder(tf.float32, [None, 2], name="x")
        return api.estimator.export.ServingInputReceiver({"x": Wrapped(x)}, {"x": x})

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        x = tf.convert_to_tensor(features["x"])
        return api.estimator.EstimatorSpec(mode, **tiny_parts({"x": x}, labels))

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    return served(estimator.export_saved_model(model_dir + "/export", receiver))


@case
def keras_wide_and_deep_with_two_optimizers(api: Api, model_dir: str) -> Any:
    keras = api.keras
    wide = keras.experimental.LinearModel(kernel_initializer="ones", name="wide")
    deep = keras.Sequential(
        [keras.layers.Dense(1, kernel_initializer="ones", name="out")], name="deep"
    )
    model = keras.experimental.WideDeepModel(wide, deep, name="both")
    legacy = keras.optimizers.legacy
    model.compile([legacy.SGD(0.01), legacy.Adam(0.1)], "mse")
    x, z = values(8, 2, seed=1), values(8, 3, seed=2)
    y = x.sum(axis=1, keepdims=True) - z.sum(axis=1, keepdims=True)
    estimator = api.model_to_estimator(model, model_dir=model_dir, checkpoint_format="saver")

    def data() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors(((x, z), y)).repeat(3)

    estimator.train(data)
    assert np.isfinite(estimator.evaluate(data, steps=1)["loss"])
    # Both optimizers of tf.estimator count on the global step, one before the other by chance.
    return sorted(estimator.get_variable_names())


@case
def input_fn_that_returns_none_for_a_model_without_features(api: Api, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = tf1.get_variable("w", initializer=1.0)
        train_op = tf.group(weight.assign_add(1.0), tf1.train.get_global_step().assign_add(1))
        return api.estimator.EstimatorSpec(mode, loss=weight * 1.0, train_op=train_op)

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(lambda: None, steps=2)
    return float(estimator.get_variable_value("w"))


@case
def input_fn_that_wraps_one_of_other_arguments(api: Api, model_dir: str) -> Any:
    def of_params(params: Any, mode: str) -> tf.data.Dataset:
        assert (params, mode) == ("bound", "bound")
        return tiny_input()

    @functools.wraps(of_params)
    def bound() -> tf.data.Dataset:
        return of_params("bound", "bound")

    estimator = tiny_estimator(api, model_dir)
    estimator.train(bound, steps=2)
    return estimator.get_variable_value("weight").tolist()


def _without_rate(api: Api) -> Any:
    class NoRate(api.keras.optimizers.legacy.Optimizer):
        def __init__(self, name: str = "NoRate") -> None:
            super().__init__(name)

        def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
            return var.assign_sub(0.1 * grad)

        def get_config(self) -> dict[str, Any]:
            return {"name": self._name}

    return NoRate()


def _trained_by(name: str, make: Callable[[Api], Any]) -> None:
    def run(api: Api, model_dir: str) -> Any:
        estimator = api.model_to_estimator(dense(api, optimizer=make(api)), model_dir=model_dir)
        estimator.train(keras_input, steps=2)
        loss = float(estimator.evaluate(lambda: keras_input(1))["loss"])
        return [loss, sorted(estimator.get_variable_names())]

    run.__name__ = f"keras_trained_by_{name}"
    case(run)


_trained_by("an_optimizer_without_learning_rate", _without_rate)
_trained_by("averages", lambda api: api.keras.optimizers.SGD(0.1, use_ema=True))


def keras_subclassed_model_that_was_changed_and_called(api: Api, model_dir: str) -> Any:
    layers = api.keras.layers

    class Plain(api.keras.Model):
        def __init__(self) -> None:
            super().__init__(name="plain")
            self.last = layers.Dense(1, kernel_initializer="ones", name="out")

        def call(self, inputs: Any) -> Any:
            return self.last(inputs)

    model = Plain()
    model.last = layers.Dense(2, kernel_initializer="ones", name="two")
    model(tiny_data()[0])
    model.compile(api.keras.optimizers.legacy.SGD(0.01), "mse")
    estimator = api.model_to_estimator(model, model_dir=model_dir, checkpoint_format="saver")

    def data(repeat: int | None = None) -> tf.data.Dataset:
        return keras_input(repeat).map(lambda x, y: (x["x"], y))

    estimator.train(data, steps=2)
    return float(estimator.evaluate(lambda: data(1))["loss"])


case(keras_subclassed_model_that_was_changed_and_called, "ERROR")  # Warnings differ.
