"""Odd values for builders of logits, and for functions that give them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.odd import Names, odd
from breadth.odd_values import X, Y, x
from jobs import Api

tf1 = tf.compat.v1


def _logits(builder: str, **arguments: Any) -> Any:
    def ask(api: Api, directory: str) -> Any:
        with tf.Graph().as_default():
            values = {name: make() for name, make in arguments.items()}
            fn = getattr(api.estimator.experimental, builder)(**values)
            more = {"mode": "eval"} if builder.startswith("dnn") else {}
            logits = fn(features={"x": tf.constant(X)}, **more)
            names = sorted(variable.name for variable in tf1.global_variables())
            return [str(logits.shape), logits.dtype.name, names]

    return ask


_DNN = {
    "units": lambda: 2,
    "hidden_units": lambda: [3],
    "feature_columns": lambda: [x()],
    "activation_fn": lambda: tf.nn.relu,
    "dropout": lambda: None,
    "input_layer_partitioner": lambda: None,
    "batch_norm": lambda: False,
}
_LINEAR = {"units": lambda: 2, "feature_columns": lambda: [x()]}
BUILT: dict[str, dict[str, Any]] = {
    "units of NumPy": {"units": lambda: np.int64(2)},
    "units that are a float": {"units": lambda: 2.0},
    "units True": {"units": lambda: True},
    "units zero": {"units": lambda: 0},
    "columns: one": {"feature_columns": x},
    "columns: tuple": {"feature_columns": lambda: (x(),)},
    "columns: generator": {"feature_columns": lambda: iter([x()])},
    "columns: of v1": {
        "feature_columns": lambda: [
            tf1.feature_column.indicator_column(
                tf1.feature_column.categorical_column_with_identity("x", 3)
            )
            if hasattr(tf1.feature_column, "indicator_column")
            else x()
        ]
    },
}
for _builder, _usual in (("dnn", _DNN), ("linear", _LINEAR)):
    odd(
        f"{_builder}_logit_fn_builder",
        {k: _logits(f"{_builder}_logit_fn_builder", **{**_usual, **v}) for k, v in BUILT.items()},
        ("v1",),
    )


def _called(result: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        with tf.Graph().as_default():
            found = api.estimator.experimental.call_logit_fn(
                lambda features: result(), {"x": tf.constant(Y)}, "eval", {}, None
            )
            return type(found).__name__ in ("Tensor", "SymbolicTensor") or type(found).__name__

    return ask


odd(
    "call_logit_fn",
    {
        "a variable": _called(lambda: tf1.get_variable("v", initializer=X)),
        "an array": _called(lambda: X),
        "a sparse tensor": _called(lambda: tf.sparse.from_dense(X)),
        "a ragged tensor": _called(lambda: tf.RaggedTensor.from_tensor(X)),
        "a dict": _called(lambda: {"a": tf.constant(X)}),
        "an OrderedDict": _called(lambda: collections.OrderedDict(a=tf.constant(X))),
        "an own mapping": _called(lambda: Names({"a": tf.constant(X)})),
        "a dict of variables": _called(lambda: {"a": tf1.get_variable("v", initializer=X)}),
        "a dict by numbers": _called(lambda: {1: tf.constant(X)}),
        "a list": _called(lambda: [tf.constant(X)]),
        "None": _called(lambda: None),
    },
)
