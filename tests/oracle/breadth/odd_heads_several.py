"""Odd values for losses of heads, several heads, heads of steps."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import canned_rnn
import numpy as np
import tensorflow as tf
from breadth.forms import Delegate
from breadth.odd import Names, odd
from breadth.odd_heads import USUAL, evaluated, logits_of, of_head, weights_of
from canned_figures import fixed
from jobs import Api

tf1 = tf.compat.v1
LOSSES: dict[str, Callable[[], Any]] = {
    "of labels alone": lambda: lambda labels: labels,
    "of other names": lambda: lambda a, b: a,
    "with features": lambda: lambda labels, logits, features: tf.square(labels - logits),
    "with all": lambda: lambda labels, logits, features, loss_reduction: tf.square(labels - logits),
    "with more": lambda: lambda labels, logits, more: tf.square(labels - logits),
    "with a default": lambda: lambda labels, logits, more=1: tf.square(labels - logits),
    "any by name": lambda: lambda **given: tf.square(given["labels"] - given["logits"]),
    "any": lambda: lambda *given: given[0],
    "any beside": lambda: lambda labels, logits, **more: tf.square(labels - logits),
    "partial": lambda: functools.partial(
        lambda labels, logits, scale: scale * tf.square(labels - logits), scale=2.0
    ),
    "partial of the first": lambda: functools.partial(
        lambda scale, labels, logits: scale * tf.square(labels - logits), 2.0
    ),
    "method": lambda: type("L", (), {"f": lambda self, labels, logits: labels - logits})().f,
    "that returns a scalar": lambda: lambda labels, logits: tf.reduce_mean(logits),
    "that returns one dimension": lambda: lambda labels, logits: logits[:, 0],
    "that returns doubles": lambda: lambda labels, logits: tf.cast(logits, tf.float64),
    "that returns integers": lambda: lambda labels, logits: tf.cast(labels, tf.int32),
    "that returns None": lambda: lambda labels, logits: None,
    "that returns an array": lambda: lambda labels, logits: np.ones([4, 1], np.float32),
    "that returns a list": lambda: lambda labels, logits: [[1.0]] * 4,
    "no function": lambda: 3,
    "a Loss of Keras": lambda: tf1.keras.losses.MeanSquaredError(),
}
odd(
    "Head.loss_fn",
    {
        text: of_head(lambda e, v=value: e.BinaryClassHead(loss_fn=v()))
        for text, value in LOSSES.items()
    },
    ("v2",),
)


def _pair(estimator: Any) -> list[Any]:
    return [estimator.BinaryClassHead(name="a"), estimator.RegressionHead(2, name="b")]


def _pair_labels() -> Any:
    return {"a": USUAL["BinaryClassHead"](), "b": USUAL["RegressionHead"]()}


def _several(
    heads: Callable[[Any], Any] = _pair,
    labels: Callable[[], Any] = _pair_labels,
    logits: Callable[[], Any] | None = None,
    weights: Callable[[], Any] | None = None,
) -> Any:
    def make(estimator: Any) -> Any:
        more = () if weights is None else (weights(),)
        return estimator.MultiHead(heads(estimator), *more)

    return of_head(make, 3, labels=labels, logits=logits)


odd(
    "MultiHead",
    {
        "tuple": _several(lambda e: tuple(_pair(e))),
        "dict": _several(lambda e: {head.name: head for head in _pair(e)}),
        "one": _several(lambda e: _pair(e)[0]),
        "none of them": _several(lambda e: []),
        "array": _several(lambda e: np.array(_pair(e), dtype=object)),
        "delegates": _several(lambda e: [Delegate(head) for head in _pair(e)]),
        "of one": _several(
            lambda e: _pair(e)[:1],
            lambda: {"a": USUAL["BinaryClassHead"]()},
            lambda: logits_of(1),
        ),
        "within another": _several(
            lambda e: [e.MultiHead(_pair(e))],
            lambda: {"a_b": _pair_labels()},
        ),
        "labels: OrderedDict": _several(labels=lambda: collections.OrderedDict(_pair_labels())),
        "labels: own mapping": _several(labels=lambda: Names(_pair_labels())),
        "labels: with more": _several(labels=lambda: {**_pair_labels(), "c": 3}),
        "labels: too few": _several(labels=lambda: {"a": USUAL["BinaryClassHead"]()}),
        "labels: a list": _several(labels=lambda: list(_pair_labels().values())),
        "logits: dict": _several(logits=lambda: {"a": logits_of(1), "b": logits_of(2)}),
        "logits: own mapping": _several(
            logits=lambda: Names({"a": logits_of(1), "b": logits_of(2)})
        ),
        "logits: with more": _several(
            logits=lambda: {"a": logits_of(1), "b": logits_of(2), "c": logits_of(2)}
        ),
        "logits: too few": _several(logits=lambda: {"a": logits_of(1)}),
        "logits: a list": _several(logits=lambda: [logits_of(1), logits_of(2)]),
        "logits: an array": _several(logits=lambda: fixed("logits", (4, 3))),
        "weights: tuple": _several(weights=lambda: (0.5, 2)),
        "weights: array": _several(weights=lambda: np.array([0.5, 2.0])),
        "weights: none of them": _several(weights=list),
        "weights: too few": _several(weights=lambda: [0.5]),
        "weights: tensors": _several(weights=lambda: [tf.constant(0.5), tf.constant(2.0)]),
        "weights: dict": _several(weights=lambda: {"a": 0.5, "b": 2.0}),
    },
    ("v2",),
)


def _of_steps(
    mask: Any = "mask", columns: Any = None, head: Callable[[Any], Any] | None = None
) -> Any:
    def ask(api: Api, directory: str) -> Any:
        with tf.Graph().as_default():
            inner = (head or (lambda e: e.BinaryClassHead("weight")))(api.estimator)
            wrap = type(canned_rnn._of_steps(inner))
            features = {
                "mask": tf.constant([[True, True], [True, False]]),
                "floats": tf.constant([[1.0, 1.0], [1.0, 0.0]]),
                "three": tf.ones([2, 2, 1]),
                "weight": tf.constant([[1.0, 2.0], [3.0, 0.0]]),
            }
            spec = wrap(inner, mask, columns).create_estimator_spec(
                features,
                "eval",
                tf.constant(fixed("logits", (2, 2, 1))),
                labels=tf.constant([[0, 1], [1, 0]]),
            )
            return evaluated(spec)

    return ask


odd(
    "SequentialHeadWrapper",
    {
        "a name": _of_steps(columns="weight"),
        "list": _of_steps(columns=["weight"]),
        "tuple": _of_steps(columns=("weight",)),
        "set": _of_steps(columns={"weight"}),
        "generator": _of_steps(columns=(name for name in ["weight"])),
        "str of NumPy": _of_steps(columns=np.str_("weight")),
        "bytes": _of_steps(columns=b"weight"),
        "column": _of_steps(columns=[weights_of()]),
        "a number": _of_steps(columns=3),
        "missing": _of_steps(columns="other"),
        "mask: floats": _of_steps("floats", "weight"),
        "mask: three dimensions": _of_steps("three", "weight"),
        "mask: missing": _of_steps("other", "weight"),
        "mask: a number": _of_steps(3, "weight"),
        "mask: str of NumPy": _of_steps(np.str_("mask"), "weight"),
        "head that delegates": _of_steps(
            columns="weight", head=lambda e: Delegate(e.BinaryClassHead("weight"))
        ),
        "several heads": _of_steps(head=lambda e: e.MultiHead(_pair(e))),
    },
    ("v2",),
)
