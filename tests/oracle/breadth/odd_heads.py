"""Odd values for heads: labels, weights, logits, and how they are trained."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, odd
from breadth.subjects_canned import update_of, value_of
from canned_figures import fixed
from jobs import Api

tf1 = tf.compat.v1
HEADS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "BinaryClassHead": (1, lambda e: e.BinaryClassHead("weight")),
    "MultiClassHead": (3, lambda e: e.MultiClassHead(3, "weight")),
    "MultiLabelHead": (3, lambda e: e.MultiLabelHead(3, "weight")),
    "RegressionHead": (2, lambda e: e.RegressionHead(2, "weight")),
}
CLASSES, FEW = [0, 1, 1, 0], [[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]]
LABELS: dict[str, dict[str, Callable[[], Any]]] = {
    "BinaryClassHead": {
        "floats": lambda: tf.constant([0.0, 1.0, 1.0, 0.0]),
        "fractions": lambda: tf.constant([0.2, 0.7, 1.0, 0.0]),
        "booleans": lambda: tf.constant([True, False, True, False]),
        "a list": lambda: CLASSES,
        "an array": lambda: np.array(CLASSES),
        "small integers": lambda: tf.constant(CLASSES, tf.uint8),
        "columns": lambda: tf.constant(CLASSES)[:, None],
        "strings": lambda: tf.constant(["0", "1", "1", "0"]),
        "None": lambda: None,
        "a dict": lambda: {"y": tf.constant(CLASSES)},
        "rows": lambda: tf.constant(CLASSES)[None],
        "too large": lambda: tf.constant([0, 1, 2, 0]),
        "negative": lambda: tf.constant([0, 1, -1, 0]),
        "one hot": lambda: tf.one_hot(CLASSES, 2),
        "a variable": lambda: tf1.get_variable("labels", initializer=[0, 1, 1, 0]),
    },
    "MultiClassHead": {
        "floats": lambda: tf.constant([0.0, 1.0, 2.0, 0.0]),
        "booleans": lambda: tf.constant([True, False, True, False]),
        "a list": lambda: CLASSES,
        "small integers": lambda: tf.constant(CLASSES, tf.int8),
        "one hot": lambda: tf.one_hot(CLASSES, 3),
        "one hot integers": lambda: tf.constant(FEW),
        "sparse": lambda: tf.sparse.from_dense([[1], [2], [1], [2]]),
        "too large": lambda: tf.constant([0, 1, 3, 0]),
    },
    "MultiLabelHead": {
        "floats": lambda: tf.constant(FEW, tf.float32),
        "fractions": lambda: tf.constant(FEW, tf.float32) / 2,
        "booleans": lambda: tf.constant(FEW, tf.bool),
        "a list": lambda: FEW,
        "sparse": lambda: tf.sparse.from_dense([[1, 2], [2, 0], [1, 0], [2, 1]]),
        "ragged": lambda: tf.ragged.constant([[1, 2], [2], [1], [2, 1]]),
        "sparse indicators": lambda: tf.sparse.from_dense(FEW),
        "too large": lambda: tf.constant(FEW) * 2,
        "small integers": lambda: tf.constant(FEW, tf.uint8),
    },
    "RegressionHead": {
        "integers": lambda: tf.constant(FEW)[:, :2],
        "doubles": lambda: tf.constant(FEW, tf.float64)[:, :2],
        "booleans": lambda: tf.constant(FEW, tf.bool)[:, :2],
        "one number": lambda: tf.constant([0.1, 0.2, 0.3, 0.4]),
        "sparse": lambda: tf.sparse.from_dense(tf.constant(FEW, tf.float32)[:, :2]),
        "a list": lambda: [[0.1, 0.2]] * 4,
        "one dimension more": lambda: tf.constant(FEW, tf.float32)[:, :2, None],
    },
}
WEIGHTS: dict[str, Callable[[], Any]] = {
    "floats": lambda: tf.constant([1.0, 2.0, 0.5, 1.5]),
    "columns": lambda: tf.constant([[1.0], [2.0], [0.5], [1.5]]),
    "integers": lambda: tf.constant([1, 2, 3, 4]),
    "doubles": lambda: tf.constant([1.0, 2.0, 0.5, 1.5], tf.float64),
    "booleans": lambda: tf.constant([True, False, True, True]),
    "strings": lambda: tf.constant(["1", "2", "3", "4"]),
    "a list": lambda: [1.0, 2.0, 0.5, 1.5],
    "a scalar": lambda: tf.constant(2.0),
    "sparse": lambda: tf.sparse.from_dense([[1.0], [2.0], [0.5], [1.5]]),
    "of one": lambda: tf.constant([2.0]),
    "too many": lambda: tf.constant([1.0, 2.0, 0.5, 1.5, 1.0]),
    "negative": lambda: tf.constant([1.0, -2.0, 0.5, 1.5]),
    "zero": lambda: tf.zeros([4]),
    "None": lambda: None,
}
USUAL = {
    "BinaryClassHead": lambda: tf.constant(CLASSES),
    "MultiClassHead": lambda: tf.constant(CLASSES),
    "MultiLabelHead": lambda: tf.constant(FEW),
    "RegressionHead": lambda: tf.constant(FEW, tf.float32)[:, :2],
}


def logits_of(size: int) -> Any:
    return tf.constant(fixed("logits", (4, size)))


def evaluated(spec: Any) -> Any:
    """Returns the loss and the metrics of an EstimatorSpec."""
    with tf1.Session() as session:
        session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
        session.run(tf1.tables_initializer())
        metrics = spec.eval_metric_ops or {}
        session.run([update_of(metric) for metric in metrics.values()])
        values = {name: session.run(value_of(metric)) for name, metric in sorted(metrics.items())}
        return [session.run(spec.loss), values]


def _spec(kind: str, labels: Callable[[], Any], weights: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        size, make = HEADS[kind]
        with tf.Graph().as_default():
            head = make(api.estimator)
            features = {"weight": weights()}
            return evaluated(
                head.create_estimator_spec(features, "eval", logits_of(size), labels=labels())
            )

    return ask


for _kind, _labels in LABELS.items():
    odd(
        f"{_kind}.labels",
        {text: _spec(_kind, make, WEIGHTS["floats"]) for text, make in _labels.items()},
        ("v2",),
    )
odd(
    "BinaryClassHead.weights",
    {text: _spec("BinaryClassHead", USUAL["BinaryClassHead"], v) for text, v in WEIGHTS.items()},
    ("v2",),
)
odd(
    "RegressionHead.weights",
    {text: _spec("RegressionHead", USUAL["RegressionHead"], v) for text, v in WEIGHTS.items()},
    ("v2",),
)


def of_head(
    make: Callable[[Any], Any],
    size: int = 1,
    mode: Any = "eval",
    labels: Callable[[], Any] = USUAL["BinaryClassHead"],
    features: Callable[[], Any] = dict,
    logits: Callable[[], Any] | None = None,
    **more: Callable[[Api], Any],
) -> Any:
    def ask(api: Api, directory: str) -> Any:
        with tf.Graph().as_default():
            tf1.train.get_or_create_global_step()
            variable = tf1.get_variable("w", initializer=0.5)
            given = logits_of(size) if logits is None else logits()
            given = given * variable if tf.is_tensor(given) else given
            arguments = {name: value(api) for name, value in more.items()}
            spec = make(api.estimator).create_estimator_spec(
                features(), mode, given, labels=labels(), **arguments
            )
            if mode != "train":
                return evaluated(spec)
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                loss = session.run([spec.loss, spec.train_op])[0]
                step = tf1.train.get_global_step()
                return [loss, session.run(variable), int(session.run(step))]

    return ask


def _binary(estimator: Any) -> Any:
    return estimator.BinaryClassHead()


def _sgd(api: Api) -> Any:
    return api.keras.optimizers.legacy.SGD(0.1)


def _variables(api: Api) -> Any:
    return tf1.trainable_variables()


def _trained(**more: Callable[[Api], Any]) -> Any:
    given = {"optimizer": _sgd, "trainable_variables": _variables, **more}
    return of_head(
        _binary, mode="train", **{name: value for name, value in given.items() if value is not None}
    )


def _minimized(loss: Any) -> Any:
    return tf1.train.GradientDescentOptimizer(0.1).minimize(loss, tf1.train.get_global_step())


odd(
    "Head.train",
    {
        "as usual": _trained(),
        "variables: tuple": _trained(trainable_variables=lambda api: tuple(_variables(api))),
        "variables: generator": _trained(trainable_variables=lambda api: iter(_variables(api))),
        "variables: subclass of list": _trained(
            trainable_variables=lambda api: type("L", (list,), {})(_variables(api))
        ),
        "variables: one": _trained(trainable_variables=lambda api: _variables(api)[0]),
        "variables: none of them": _trained(trainable_variables=lambda api: []),
        "variables: None": _trained(trainable_variables=lambda api: None),
        "optimizer: delegates": _trained(optimizer=lambda api: Delegate(_sgd(api))),
        "optimizer: v1": _trained(optimizer=lambda api: tf1.train.GradientDescentOptimizer(0.1)),
        "optimizer: a name": _trained(optimizer=lambda api: "SGD"),
        "optimizer: new": _trained(optimizer=lambda api: api.keras.optimizers.SGD(0.1)),
        "function": _trained(
            optimizer=None, trainable_variables=None, train_op_fn=lambda api: _minimized
        ),
        "function: partial": _trained(
            optimizer=None,
            trainable_variables=None,
            train_op_fn=lambda api: functools.partial(_minimized),
        ),
        "function that returns None": _trained(
            optimizer=None, trainable_variables=None, train_op_fn=lambda api: lambda loss: None
        ),
        "function and optimizer": _trained(train_op_fn=lambda api: _minimized),
        "neither": _trained(optimizer=None, trainable_variables=None),
        "updates: tuple": _trained(update_ops=lambda api: (tf.no_op(),)),
        "updates: generator": _trained(update_ops=lambda api: (op for op in [tf.no_op()])),
        "updates: one": _trained(update_ops=lambda api: tf.no_op()),
        "updates: none of them": _trained(update_ops=lambda api: []),
        "losses: tuple": _trained(regularization_losses=lambda api: (tf.constant(0.5),)),
        "losses: generator": _trained(
            regularization_losses=lambda api: (v for v in [tf.constant(0.5)])
        ),
        "losses: numbers": _trained(regularization_losses=lambda api: [0.5]),
        "losses: a tensor": _trained(regularization_losses=lambda api: tf.constant([0.5])),
        "losses: none of them": _trained(regularization_losses=lambda api: []),
        "losses: of two": _trained(regularization_losses=lambda api: [tf.constant([0.5, 0.1])]),
        "losses: doubles": _trained(
            regularization_losses=lambda api: [tf.constant(0.5, tf.float64)]
        ),
    },
    ("v2",),
)
odd(
    "Head.mode",
    {
        "of NumPy": of_head(_binary, mode=np.str_("eval")),
        "unknown": of_head(_binary, mode="nothing"),
        "None": of_head(_binary, mode=None),
        "of Keras": of_head(_binary, mode="test"),
    },
    ("v2",),
)
LOGITS: dict[str, Callable[[], Any]] = {
    "doubles": lambda: tf.constant(fixed("logits", (4, 1)), tf.float64),
    "halves": lambda: tf.constant(fixed("logits", (4, 1)), tf.float16),
    "an array": lambda: fixed("logits", (4, 1)),
    "a list": lambda: [[0.1], [0.2], [0.3], [0.4]],
    "one dimension": lambda: tf.constant(fixed("logits", (4,))),
    "two numbers": lambda: tf.constant(fixed("logits", (4, 2))),
    "integers": lambda: tf.constant([[1], [2], [3], [4]]),
    "None": lambda: None,
    "of unknown size": lambda: tf1.placeholder_with_default(fixed("logits", (4, 1)), [None, None]),
    "of unknown rank": lambda: tf1.placeholder_with_default(fixed("logits", (4, 1)), None),
    "a dict": lambda: {"logits": tf.constant(fixed("logits", (4, 1)))},
}
odd("Head.logits", {text: of_head(_binary, logits=v) for text, v in LOGITS.items()}, ("v2",))


def weights_of(**arguments: Any) -> Any:
    return tf.feature_column.numeric_column("weight", **arguments)


_WEIGHT = {"weight": lambda: tf.constant([1.0, 2.0, 0.5, 1.5])}


def _weighted(column: Callable[[], Any], features: Callable[[], Any] | None = None) -> Any:
    return of_head(
        lambda e: e.BinaryClassHead(column()),
        features=features or (lambda: {"weight": _WEIGHT["weight"]()}),
    )


odd(
    "Head.weight_column",
    {
        "column": _weighted(weights_of),
        "with a function": _weighted(lambda: weights_of(normalizer_fn=lambda v: v * 2.0)),
        "of doubles": _weighted(lambda: weights_of(dtype=tf.float64)),
        "of two": _weighted(lambda: weights_of(shape=2)),
        "subclass": _weighted(lambda: _subclass_of(weights_of())),
        "delegates": _weighted(lambda: Delegate(weights_of())),
        "str of NumPy": _weighted(lambda: np.str_("weight")),
        "bytes": _weighted(lambda: b"weight"),
        "a number": _weighted(lambda: 3),
        "a tensor": _weighted(lambda: tf.constant([1.0])),
        "a list": _weighted(lambda: ["weight"]),
        "empty": _weighted(lambda: ""),
        "another name": _weighted(lambda: "other"),
        "features: own mapping": _weighted(
            lambda: "weight", lambda: Names({"weight": _WEIGHT["weight"]()})
        ),
        "features: a tensor": _weighted(lambda: "weight", lambda: tf.constant([1.0])),
        "features: None": _weighted(lambda: "weight", lambda: None),
    },
    ("v2",),
)
