"""Odd values for the networks of canned estimators: sizes, dropout, activations, both parts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.odd import made, odd
from breadth.odd_values import x
from breadth.subjects_canned import trained
from jobs import Api


def _names(found: dict[str, Any]) -> Any:
    """Returns the parts that do not depend on random numbers."""
    return [found["variables"], sorted(found["evaluation"]), sorted(found["prediction"])]


def _of_network(**arguments: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        given = {"hidden_units": lambda: [2], "feature_columns": lambda: [x()], **arguments}
        values = {name: make() for name, make in given.items()}
        found = trained(made(api, directory, "DNNClassifier", **values), "class")
        return _names(found) if "dropout" in arguments else found

    return ask


UNITS: dict[str, Callable[[], Any]] = {
    "tuple": lambda: (3, 2),
    "generator": lambda: (size for size in (3, 2)),
    "array": lambda: np.array([3, 2]),
    "range": lambda: range(2, 4),
    "floats": lambda: [3.0, 2.0],
    "a fraction": lambda: [2.7],
    "strings": lambda: ["3", "2"],
    "a string": lambda: "32",
    "a number": lambda: 3,
    "an array of no dimensions": lambda: np.array(3),
    "a list of lists": lambda: [[3], [2]],
    "numbers of NumPy": lambda: [np.int64(3), np.int32(2)],
    "floats of NumPy": lambda: [np.float32(3)],
    "True": lambda: [True],
    "a dict": lambda: {3: "a", 2: "b"},
    "none of them": list,
    "None": lambda: None,
    "a tensor": lambda: tf.constant([3, 2]),
    "tensors": lambda: [tf.constant(3)],
    "None among them": lambda: [None],
}
DROPOUT: dict[str, Callable[[], Any]] = {
    "zero": lambda: 0,
    "half": lambda: 0.5,
    "one": lambda: 1,
    "of NumPy": lambda: np.float32(0.5),
    "of NumPy, double": lambda: np.float64(0.5),
    "an array": lambda: np.array(0.5),
    "a tensor": lambda: tf.constant(0.5),
    "False": lambda: False,
    "a string": lambda: "0.5",
    "negative": lambda: -0.1,
    "above one": lambda: 1.5,
    "a list": lambda: [0.5],
}
ACTIVATIONS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a name": lambda: "tanh",
    "a name that is unknown": lambda: "nothing",
    "partial": lambda: functools.partial(tf.nn.leaky_relu, alpha=0.3),
    "lambda": lambda: lambda value: value * 2.0,
    "an object": lambda: type("Act", (), {"__call__": lambda self, v: tf.nn.tanh(v)})(),
    "a number": lambda: 3,
    "a dict": lambda: {"class_name": "ReLU", "config": {}},
}
BATCH_NORM: dict[str, Callable[[], Any]] = {
    "one": lambda: 1,
    "of NumPy": lambda: np.bool_(True),
    "a string": lambda: "yes",
    "None": lambda: None,
}
odd(
    "DNNClassifier.hidden_units",
    {k: _of_network(hidden_units=v) for k, v in UNITS.items()},
    ("v2",),
)
odd("DNNClassifier.dropout", {k: _of_network(dropout=v) for k, v in DROPOUT.items()}, ("v2",))
odd(
    "DNNClassifier.activation_fn",
    {k: _of_network(activation_fn=v) for k, v in ACTIVATIONS.items()},
    ("v2",),
)
odd(
    "DNNClassifier.batch_norm",
    {k: _of_network(batch_norm=v) for k, v in BATCH_NORM.items()},
    ("v2",),
)


def _both(**arguments: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        values = {name: make() for name, make in arguments.items()}
        return trained(made(api, directory, "DNNLinearCombinedClassifier", **values), "class")

    return ask


def _some() -> Any:
    return (column for column in [x()])


odd(
    "DNNLinearCombinedClassifier",
    {
        "linear alone": _both(linear_feature_columns=lambda: [x()]),
        "linear alone, with sizes": _both(
            linear_feature_columns=lambda: [x()], dnn_hidden_units=lambda: [2]
        ),
        "deep alone": _both(dnn_feature_columns=lambda: [x()], dnn_hidden_units=lambda: [2]),
        "deep without sizes": _both(dnn_feature_columns=lambda: [x()]),
        "deep with no sizes": _both(dnn_feature_columns=lambda: [x()], dnn_hidden_units=list),
        "empty list beside": _both(
            dnn_feature_columns=lambda: [x()],
            dnn_hidden_units=lambda: [2],
            linear_feature_columns=list,
        ),
        "empty tuple beside": _both(
            dnn_feature_columns=tuple, linear_feature_columns=lambda: (x(),)
        ),
        "generators": _both(
            dnn_feature_columns=_some,
            linear_feature_columns=_some,
            dnn_hidden_units=lambda: (size for size in (2,)),
        ),
        "arrays of sizes": _both(
            dnn_feature_columns=lambda: [x()], dnn_hidden_units=lambda: np.array([3, 2])
        ),
        "array of one size": _both(
            dnn_feature_columns=lambda: [x()], dnn_hidden_units=lambda: np.array([3])
        ),
        "nothing": _both(),
    },
    ("v2",),
)
