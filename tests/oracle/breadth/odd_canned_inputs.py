"""Odd values for what canned estimators read: columns, features, labels, combiners."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, made, odd
from breadth.odd_values import X, Y, word, x
from breadth.subjects_canned import trained
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column
internal = tf.__internal__.feature_column


class Scaled(internal.DenseColumn):
    """A column of a program's own, with a variable."""

    _is_v2_column = True
    name = "scaled x/y"
    variable_shape = tf.TensorShape([2])
    parse_example_spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    parents = ["x"]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get("x", state_manager) * 2.0

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self, name="scale", shape=(2,), dtype=tf.float32, initializer=tf1.ones_initializer()
        )

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        scale = state_manager.get_variable(self, name="scale")
        return transformation_cache.get(self, state_manager) * scale

    def get_config(self) -> dict[str, Any]:
        return {}


COLUMNS: dict[str, Callable[[Api], Any]] = {
    "one that is in no list": lambda api: x(),
    "set": lambda api: {x()},
    "dict": lambda api: {"x": x()},
    "values of a dict": lambda api: {"x": x()}.values(),
    "UserDict": lambda api: collections.UserDict({"x": x()}),
    "the same twice": lambda api: [x()] * 2,
    "one name twice": lambda api: [x(), fc.numeric_column("x", shape=2, dtype=tf.float64)],
    "delegates": lambda api: [Delegate(x())],
    "subclass": lambda api: [_subclass_of(x())],
    "own class": lambda api: [Scaled()],
    "own class and another": lambda api: [Scaled(), x()],
    "sequence": lambda api: [fc.sequence_numeric_column("x")],
    "names alike": lambda api: [
        x(),
        fc.numeric_column("x", shape=2, normalizer_fn=lambda v: v)._replace(key="x:"),
    ],
    "normalizer that is an object": lambda api: [
        fc.numeric_column("x", shape=2, normalizer_fn=functools.partial(tf.multiply, 2.0))
    ],
    "strings": lambda api: ["x"],
    "none of them": lambda api: [],
    "None": lambda api: None,
}


def _on_columns(kind: str, columns: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        more = {"hidden_units": [2]} if kind == "DNNClassifier" else {}
        estimator = made(api, directory, kind, feature_columns=columns(api), **more)
        return trained(estimator, "class")

    return ask


for _kind in ("LinearClassifier", "DNNClassifier"):
    odd(f"{_kind}.columns", {text: _on_columns(_kind, make) for text, make in COLUMNS.items()})
SPARSE = functools.partial(tf.sparse.from_dense, X)
FEATURES: dict[str, Callable[[], Any]] = {
    "OrderedDict": lambda: collections.OrderedDict(x=tf.constant(X)),
    "UserDict": lambda: collections.UserDict(x=tf.constant(X)),
    "MappingProxyType": lambda: types.MappingProxyType({"x": tf.constant(X)}),
    "own mapping": lambda: Names({"x": tf.constant(X)}),
    "arrays": lambda: {"x": X},
    "lists": lambda: {"x": X.tolist()},
    "a tensor": lambda: tf.constant(X),
    "a list of tensors": lambda: [tf.constant(X)],
    "None": lambda: None,
    "none of them": dict,
    "another first": lambda: {"a": tf.constant(Y), "x": tf.constant(X)},
    "a scalar beside": lambda: {"a": tf.constant(1.0), "x": tf.constant(X)},
    "a name that is no str": lambda: {1: tf.constant(Y), "x": tf.constant(X)},
    "None beside": lambda: {"a": None, "x": tf.constant(X)},
    "integers": lambda: {"x": tf.constant(X.astype(np.int64))},
    "doubles": lambda: {"x": tf.constant(X.astype(np.float64))},
    "booleans": lambda: {"x": tf.constant(X > 0)},
    "strings": lambda: {"x": tf.constant(X.astype(str))},
    "sparse": lambda: {"x": SPARSE()},
    "sparse first": lambda: {"a": SPARSE(), "x": tf.constant(X)},
    "ragged": lambda: {"x": tf.RaggedTensor.from_tensor(X)},
    "ragged first": lambda: {"a": tf.RaggedTensor.from_tensor(X), "x": tf.constant(X)},
    "one dimension more": lambda: {"x": tf.constant(X[..., None])},
    "one dimension less": lambda: {"x": tf.constant(X.ravel())},
    "a variable": lambda: {"x": tf1.get_variable("data", initializer=X, trainable=False)},
    "a tuple beside": lambda: {"a": (tf.constant(Y), tf.constant(Y)), "x": tf.constant(X)},
}


def _on(features: Callable[[], Any], labels: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        def input_fn() -> Any:
            return features(), labels()

        estimator = made(api, directory, "LinearRegressor", [x()])
        estimator.train(input_fn, steps=1)
        found = estimator.evaluate(input_fn, steps=1)
        return {key: float(value) for key, value in sorted(found.items())}

    return ask


odd(
    "LinearRegressor.features",
    {text: _on(make, lambda: tf.constant(Y)) for text, make in FEATURES.items()},
)
LABELS: dict[str, Callable[[], Any]] = {
    "a list": Y.tolist,
    "integers": lambda: tf.constant([0, 1, 2, 3]),
    "doubles": lambda: tf.constant(Y.astype(np.float64)),
    "booleans": lambda: tf.constant(Y > 0),
    "strings": lambda: tf.constant(Y.astype(str)),
    "a column": lambda: tf.constant(Y[:, None]),
    "sparse": lambda: tf.sparse.from_dense(Y[:, None]),
    "ragged": lambda: tf.RaggedTensor.from_tensor(Y[:, None]),
    "None": lambda: None,
    "a dict": lambda: {"y": tf.constant(Y)},
    "a tuple": lambda: (tf.constant(Y),),
    "two numbers": lambda: tf.constant(X),
    "a row": lambda: tf.constant(Y[None]),
}
odd(
    "LinearRegressor.labels",
    {text: _on(lambda: {"x": tf.constant(X)}, make) for text, make in LABELS.items()},
)
COMBINERS: dict[str, Any] = {
    "mean": "mean",
    "unknown": "max",
    "of NumPy": np.str_("mean"),
    "bytes": b"mean",
    "None": None,
    "capitals": "SUM",
}


def _combined(combiner: Any, columns: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        estimator = made(api, directory, "LinearClassifier", columns(), sparse_combiner=combiner)
        return trained(estimator, "class")

    return ask


odd(
    "LinearClassifier.combiner",
    {k: _combined(v, lambda: [word()]) for k, v in COMBINERS.items()},
    ("v2",),
)
odd(
    "LinearClassifier.combiner_of_numbers",
    {k: _combined(v, lambda: [x()]) for k, v in COMBINERS.items()},
    ("v2",),
)
