"""Odd values for Keras models in estimators: layers, inputs, arguments of model_to_estimator."""

from __future__ import annotations

import collections
import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, odd
from jobs import Api, values

tf1 = tf.compat.v1
X, Y = values(4, 2, seed=1), np.array([[0.5], [-1.0], [2.0], [0.0]], np.float32)


def _input() -> Any:
    return tf.data.Dataset.from_tensors((X, Y)).repeat(2)


def _dense(api: Api, **compiled: Any) -> Any:
    """Returns a compiled model with fixed weights."""
    layers = api.keras.layers
    model = api.keras.Sequential([layers.Dense(1, input_shape=(2,), name="out")], name="model")
    return _ready(model, **compiled)


def _ready(model: Any, **compiled: Any) -> Any:
    given = {"optimizer": "sgd", "loss": "mse", **compiled}
    model.compile(**given)
    model.set_weights([values(*w.shape, seed=i) for i, w in enumerate(model.get_weights())])
    return model


def _run(
    make: Callable[[Api, str], Any],
    input_fn: Callable[[], Any] = _input,
    **arguments: Callable[[Api], Any],
) -> Any:
    def ask(api: Api, directory: str) -> Any:
        given = {name: value(api) for name, value in arguments.items()}
        config = given.pop("config", None) or api.estimator.RunConfig(tf_random_seed=1)
        model = make(api, directory)
        if not isinstance(model, str):
            given.setdefault("keras_model", model)
        estimator = api.model_to_estimator(model_dir=f"{directory}/model", config=config, **given)
        estimator.train(input_fn, steps=2)
        found = estimator.evaluate(input_fn, steps=1)
        row = next(iter(estimator.predict(input_fn)))
        return [{k: float(v) for k, v in sorted(found.items())}, dict(sorted(row.items()))]

    return ask


def compiled(**arguments: Callable[[Api], Any]) -> Any:
    def make(api: Api, directory: str) -> Any:
        return _dense(api, **{name: value(api) for name, value in arguments.items()})

    return _run(make)


def _layered(*layers: Callable[[Any], Any]) -> Callable[[Api, str], Any]:
    """Sequential, of functions of `keras.layers`."""

    def make(api: Api, directory: str) -> Any:
        found = [layer(api.keras.layers) for layer in layers]
        first = api.keras.layers.InputLayer(input_shape=(2,))
        return _ready(api.keras.Sequential([first, *found]))

    return make


def _own_layer(kind: str) -> Callable[[Any], Any]:
    def make(layers: Any) -> Any:
        class Scale(layers.Layer):
            """Has its own constructor."""

            def __init__(self, factor: float, **more: Any) -> None:
                super().__init__(**more)
                self.factor = factor

            def call(self, inputs: Any) -> Any:
                if kind == "adds a loss":
                    self.add_loss(0.1 * tf.reduce_sum(inputs))
                if kind == "adds a metric":
                    self.add_metric(inputs, name="mean_input", aggregation="mean")
                if kind == "takes training":
                    return inputs
                return inputs * self.factor

            if kind != "without config":

                def get_config(self) -> Any:
                    if kind == "popped":
                        return self.__dict__.setdefault(
                            "_all", {**super().get_config(), "factor": self.factor}
                        )
                    return {**super().get_config(), "factor": self.factor}

            if kind == "popped":

                @classmethod
                def from_config(cls, config: Any) -> Any:
                    return cls(config.pop("factor"), name=config.pop("name"))

        return Scale(2.0, name="scale")

    return make


def _dense_layer(layers: Any) -> Any:
    return layers.Dense(1, name="out")


LAYERS: dict[str, Callable[[Api, str], Any]] = {
    **{
        f"own: {kind}": _layered(_own_layer(kind), _dense_layer)
        for kind in ("config", "without config", "popped", "adds a loss", "adds a metric")
    },
    "Lambda": _layered(lambda layers: layers.Lambda(lambda v: v * 2.0), _dense_layer),
    "Lambda of a partial": _layered(
        lambda layers: layers.Lambda(functools.partial(tf.multiply, 2.0)), _dense_layer
    ),
    "frozen": _layered(lambda layers: layers.Dense(2, trainable=False), _dense_layer),
    "regularized": _layered(
        lambda layers: layers.Dense(1, kernel_regularizer="l2", name="out"),
    ),
    "constrained": _layered(
        lambda layers: layers.Dense(1, kernel_constraint="non_neg", name="out"),
    ),
    "activation that is a function": _layered(
        lambda layers: layers.Dense(1, activation=lambda v: v * 2.0)
    ),
    "initializer that is a function": _layered(
        lambda layers: layers.Dense(1, kernel_initializer=lambda shape, dtype=None: tf.ones(shape))
    ),
    "names with slashes": _layered(lambda layers: layers.Dense(1, name="a/b")),
}
odd("keras.layers", {k: _run(v) for k, v in LAYERS.items()}, ("v2",))


def _functional(api: Api, directory: str, **arguments: Any) -> Any:
    one, other = (api.keras.Input((1,), name=name) for name in ("one", "other"))
    both = api.keras.layers.Concatenate()([one, other])
    out = api.keras.layers.Dense(1, name="out")(both)
    return _ready(api.keras.Model([one, other], out), **arguments)


def _two_outputs(api: Api, directory: str, **arguments: Any) -> Any:
    x = api.keras.Input((2,), name="x")
    outs = [api.keras.layers.Dense(1, name=name)(x) for name in ("out", "more")]
    return _ready(api.keras.Model(x, outs), **arguments)


def _once(*parts: Any) -> Callable[[], Any]:
    return lambda: tf.data.Dataset.from_tensors(parts).repeat(2)


ONE, OTHER = X[:, :1], X[:, 1:]
INPUTS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "list": (_functional, lambda: _once([ONE, OTHER], Y)()),
    "tuple": (_functional, _once((ONE, OTHER), Y)),
    "dict": (_functional, _once({"other": OTHER, "one": ONE}, Y)),
    "dict with more": (_functional, _once({"other": OTHER, "one": ONE, "more": Y}, Y)),
    "dict of places": (_functional, _once({"input_1": OTHER, "input_2": ONE}, Y)),
    "numbers for columns": (_functional, _once({"other": OTHER[:, 0], "one": ONE[:, 0]}, Y)),
    "doubles": (_functional, _once({"other": OTHER.astype(float), "one": ONE}, Y)),
    "integers": (_functional, _once({"other": OTHER.astype(int), "one": ONE}, Y)),
    "labels: of one dimension": (_functional, _once({"other": OTHER, "one": ONE}, Y[:, 0])),
    "labels: dict": (_functional, _once({"other": OTHER, "one": ONE}, {"out": Y})),
    "labels: list": (_functional, lambda: ({"other": OTHER, "one": ONE}, [Y])),
    "labels: doubles": (_functional, _once({"other": OTHER, "one": ONE}, Y.astype(float))),
    "labels: integers": (_functional, _once({"other": OTHER, "one": ONE}, Y.astype(int))),
    "two labels: list": (_two_outputs, lambda: ({"x": tf.constant(X)}, [tf.constant(Y)] * 2)),
    "two labels: tuple": (_two_outputs, _once({"x": X}, (Y, Y))),
    "two labels: dict": (_two_outputs, _once({"x": X}, {"more": Y, "out": Y})),
    "two labels: dict with more": (_two_outputs, _once({"x": X}, {"more": Y, "out": Y, "no": Y})),
    "two labels: one": (_two_outputs, _once({"x": X}, Y)),
    "two labels: one in a dict": (_two_outputs, _once({"x": X}, {"out": Y})),
    "weights": (
        _functional,
        _once({"features": {"other": OTHER, "one": ONE}, "sample_weights": Y[:, 0] ** 2}, Y),
    ),
    "weights by output": (
        _functional,
        _once(
            {"features": {"other": OTHER, "one": ONE}, "sample_weights": {"out": Y[:, 0] ** 2}}, Y
        ),
    ),
    "weights of two": (
        _two_outputs,
        _once({"features": {"x": X}, "sample_weights": Y[:, 0] ** 2}, (Y, Y)),
    ),
}
odd("keras.inputs", {k: _run(make, fn) for k, (make, fn) in INPUTS.items()}, ("v2",))


def _subclassed(kind: str) -> Callable[[Api, str], Any]:
    def make(api: Api, directory: str) -> Any:
        class Mine(api.keras.Model):
            """A subclassed model."""

            def __init__(self, factor: Any = 1.0, **more: Any) -> None:
                super().__init__(**more)
                self.factor = factor
                self.out = api.keras.layers.Dense(1, kernel_initializer="ones")

            def call(self, inputs: Any, training: Any = None) -> Any:
                return self.out(inputs * self.factor)

            if kind == "own step":

                def train_step(self, data: Any) -> Any:
                    return super().train_step(data)

            if kind == "popped":

                def get_config(self) -> Any:
                    return self.__dict__.setdefault("_all", {"factor": self.factor})

                @classmethod
                def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
                    return cls(config.pop("factor"))

        model = Mine(2.0)
        if kind == "called":
            model(X)
        if kind == "dataset shapes":
            model.build((None, 2))
        model.compile("sgd", "mse", metrics=["mae"])
        return model

    return make


odd(
    "keras.subclassed",
    {
        kind: _run(_subclassed(kind), checkpoint_format=lambda api: "saver")
        for kind in ("plain", "called", "own step", "popped", "dataset shapes")
    },
    ("v2",),
)


def _saved(name: str, **arguments: Any) -> Any:
    def ask(api: Api, directory: str) -> Any:
        path = f"{directory}/{name}"
        pathlib.Path(directory).mkdir(exist_ok=True)
        _dense(api).save(path)
        shown = arguments.get("path", lambda p: p)(path)
        return _run(lambda api, d: "", keras_model_path=lambda api: shown)(api, directory)

    return ask


odd(
    "keras.keras_model_path",
    {
        "h5": _saved("model.h5"),
        "keras": _saved("model.keras"),
        "SavedModel": _saved("saved"),
        "pathlib": _saved("model.h5", path=pathlib.Path),
        "bytes": _saved("model.h5", path=os.fsencode),
    },
    ("v2",),
)
odd(
    "model_to_estimator",
    {
        "format: checkpoint": _run(
            lambda api, d: _dense(api), checkpoint_format=lambda api: "checkpoint"
        ),
        "format: saver": _run(lambda api, d: _dense(api), checkpoint_format=lambda api: "saver"),
        "format: empty": _run(lambda api, d: _dense(api), checkpoint_format=lambda api: ""),
        "format: None": _run(lambda api, d: _dense(api), checkpoint_format=lambda api: None),
        "format: of NumPy": _run(
            lambda api, d: _dense(api), checkpoint_format=lambda api: np.str_("saver")
        ),
        "names: all": _run(
            lambda api, d: _dense(api, metrics=["mae"]),
            metric_names_map=lambda api: {"mae": "error"},
        ),
        "names: own mapping": _run(
            lambda api, d: _dense(api, metrics=["mae"]),
            metric_names_map=lambda api: Names({"mae": "error"}),
        ),
        "names: none of them": _run(
            lambda api, d: _dense(api, metrics=["mae"]), metric_names_map=lambda api: {}
        ),
        "names: of no metric": _run(
            lambda api, d: _dense(api), metric_names_map=lambda api: {"mae": "error"}
        ),
        "outputs: OrderedDict": _run(
            lambda api, d: _dense(api),
            export_outputs=lambda api: collections.OrderedDict(
                a=api.estimator.export.RegressionOutput
            ),
        ),
        "outputs: a function": _run(
            lambda api, d: _dense(api),
            export_outputs=lambda api: {"a": lambda v: api.estimator.export.RegressionOutput(v)},
        ),
        "outputs: own mapping": _run(
            lambda api, d: _dense(api),
            export_outputs=lambda api: Names({"a": api.estimator.export.PredictOutput}),
        ),
        "outputs: a list": _run(
            lambda api, d: _dense(api),
            export_outputs=lambda api: [api.estimator.export.PredictOutput],
        ),
        "outputs: an instance": _run(
            lambda api, d: _dense(api), export_outputs=lambda api: {"a": 3}
        ),
        "outputs: none of them": _run(lambda api, d: _dense(api), export_outputs=lambda api: {}),
        "config: a dict": _run(
            lambda api, d: _dense(api), config=lambda api: {"save_checkpoints_steps": 2}
        ),
        "config: subclass": _run(
            lambda api, d: _dense(api), config=lambda api: _subclass_of(api.estimator.RunConfig())
        ),
        "config: delegates": _run(
            lambda api, d: _dense(api), config=lambda api: Delegate(api.estimator.RunConfig())
        ),
        "objects: own mapping": _run(
            lambda api, d: _dense(api), custom_objects=lambda api: Names({"a": 3})
        ),
        "objects: a list": _run(lambda api, d: _dense(api), custom_objects=lambda api: [3]),
        "model: delegates": _run(lambda api, d: Delegate(_dense(api))),
        "model: a layer": _run(lambda api, d: api.keras.layers.Dense(1)),
        "model: a class": _run(lambda api, d: api.keras.Sequential),
    },
    ("v2",),
)
