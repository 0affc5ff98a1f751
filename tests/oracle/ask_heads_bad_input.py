"""Errors of heads for wrong arguments, labels, logits and weights.

The answer is the type of the error and the text that names the mistake, or else the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
_Calls = dict[str, Callable[[], Any]]
_GOOD_LABELS = {1: [[1], [0]], 3: [[1.0, 0.0, 1.0]] * 2}


def questions(heads: Any, optimizers: Any) -> _Calls:
    """Returns all questions by name; see `ask_heads.questions`."""
    return {
        **_constructors(heads),
        **_losses(heads),
        **_running(heads),
        **_training(heads, optimizers),
        **_several(heads),
    }


def answer(call: Callable[[], Any]) -> list[Any]:
    """Calls in a new graph.

    Returns:
        The error's class and its text, without what TensorFlow adds; if there is no error,
        "no error" and what came instead: numbers, or the name of a class.
    """
    with tf.Graph().as_default():
        try:
            return ["no error", _described(call())]
        except Exception as error:  # noqa: BLE001  whatever comes is the answer
            return [type(error).__name__, _essence(str(error))]


def _described(value: Any) -> Any:
    if isinstance(value, tf.Tensor):
        with v1.Session() as session:
            value = session.run(value)
    if isinstance(value, (float, np.ndarray, np.generic)):
        return np.round(np.float64(value), 5).tolist()
    return type(value).__name__


def _essence(text: str) -> str:
    asserted = re.search(r"assertion failed: \[(.*?)\](?= \[|$)", text, re.MULTILINE)
    if asserted:
        return asserted[1].strip()
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", text.split("\n")[0])
    text = re.sub(r"Tensor Const(_\d)?:0", "Tensor <constant>", text)
    return re.sub(r"<[\w.]*?(\w+) object at 0x>", r"<\1>", text).strip()


def _constructors(heads: Any) -> _Calls:
    calls: _Calls = {}

    def ask(kind: str, *positional: Any, **arguments: Any) -> None:
        values = [*positional, *(f"{key}={value!r}" for key, value in arguments.items())]
        text = ", ".join(map(str, values))
        calls[f"{kind}({_essence(text)})"] = lambda: getattr(heads, kind)(*positional, **arguments)

    for reduction in ("none", "SUM", "weighted_sum", None):
        for kind, size in (("BinaryClassHead", ()), ("MultiClassHead", (3,))):
            ask(kind, *size, loss_reduction=reduction)
        for kind, size in (("MultiLabelHead", (3,)), ("RegressionHead", ())):
            ask(kind, *size, loss_reduction=reduction)
    for count in (None, 0, 1, 2, -1, True):
        ask("MultiClassHead", count)
    calls["MultiClassHead of the tensor 2"] = lambda: heads.MultiClassHead(tf.constant(2))
    for count in (None, 0, 1, -1):
        ask("MultiLabelHead", count)
    for count in (0, -1):
        ask("RegressionHead", count)
        ask("PoissonRegressionHead", count)
    for thresholds in ([0.0], [1.0], [0.5, -1], [2], 0.5):
        ask("BinaryClassHead", thresholds=thresholds)
        ask("MultiLabelHead", 3, thresholds=thresholds)
    for vocabulary in (["a"], "abc", {"a": 1}, ["a", "b", "c", "d"]):
        ask("MultiClassHead", 3, label_vocabulary=vocabulary)
        ask("MultiLabelHead", 3, label_vocabulary=vocabulary)
    ask("BinaryClassHead", label_vocabulary="ab")
    for classes in ([3], [-1], ["a"], [0]):
        ask("MultiLabelHead", 3, classes_for_class_based_metrics=classes)
    named = ["a", "b", "c"]
    ask("MultiLabelHead", 3, label_vocabulary=named, classes_for_class_based_metrics=["d"])
    for name, function in _LOSS_FNS.items():
        for kind, size in (("BinaryClassHead", ()), ("MultiClassHead", (3,))):
            calls[f"{kind} with loss_fn {name}"] = lambda k=kind, s=size, f=function: getattr(
                heads, k
            )(*s, loss_fn=f)
    return calls


_LOSS_FNS: dict[str, Any] = {
    "without arguments": lambda: 0,
    "of labels": lambda labels: 0,
    "of logits": lambda logits: 0,
    "of another": lambda labels, logits, x: 0,
    "of labels and logits": lambda labels, logits: 0,
    "of all": lambda labels, logits, features, loss_reduction: 0,
    "no function": 3,
}


def _losses(heads: Any) -> _Calls:
    """Mistakes that are seen as the graph is built."""
    one, three = [[0.5], [-1.0]], [[1.0, 2.0, 3.0], [0.0, 0.5, 1.0]]
    makers: dict[str, tuple[Callable[..., Any], Any]] = {
        "binary": (heads.BinaryClassHead, one),
        "multi-class": (lambda **k: heads.MultiClassHead(3, **k), three),
        "multi-label": (lambda **k: heads.MultiLabelHead(3, **k), three),
        "regression": (heads.RegressionHead, one),
        "regression of three": (lambda **k: heads.RegressionHead(3, **k), three),
        "poisson": (heads.PoissonRegressionHead, one),
        "logistic": (heads.LogisticRegressionHead, one),
    }
    labels: dict[str, Callable[[], Any]] = {
        "no labels": lambda: None,
        "two columns": lambda: tf.constant([[1, 0], [0, 1]]),
        "four columns": lambda: tf.constant([[1, 0, 0, 0], [0, 1, 1, 1]]),
        "too few": lambda: tf.constant([[1]]),
        "too large": lambda: tf.constant([[1], [9]]),
        "negative": lambda: tf.constant([[-1], [0]]),
        "fractions": lambda: tf.constant([[0.5], [1.0]]),
        "fractions above one": lambda: tf.constant([[0.5], [1.5]]),
        "booleans": lambda: tf.constant([[True], [False]]),
        "sparse": lambda: tf.sparse.from_dense([[1], [1]]),
        "indicators with 2": lambda: tf.constant([[1, 0, 2], [0, 1, 1]]),
        "negative indicators": lambda: tf.constant([[1, 0, -1], [0, 1, 1]]),
        "sparse too large": lambda: tf.SparseTensor([[0, 0], [1, 0]], [1, 3], [2, 1]),
        "sparse fractions": lambda: tf.SparseTensor([[0, 0], [1, 0]], [1.0, 2.0], [2, 1]),
    }
    features = {"w": [1.0, 2.0]}
    calls: _Calls = {}
    for kind, (make, logits) in makers.items():
        for name, value in labels.items():
            calls[f"{kind}, labels: {name}"] = lambda m=make, g=logits, v=value: m().loss(
                v(), tf.constant(g), features=features
            )
        shape = 3 if kind in ("multi-label", "regression of three") else 1
        for name, wrong in {"rank 1": [0.5, -1.0], "five columns": [[0.1] * 5] * 2}.items():
            calls[f"{kind}, logits: {name}"] = lambda m=make, w=wrong, s=shape: m().loss(
                tf.constant(_GOOD_LABELS[s]), tf.constant(w), features=features
            )
    weights: dict[str, Callable[[], Any]] = {
        "missing": lambda: {"v": tf.constant([1.0])},
        "scalar": lambda: {"w": tf.constant(2.0)},
        "sparse": lambda: {"w": tf.sparse.from_dense([[1.0], [2.0]])},
    }
    for name, given in weights.items():
        calls[f"weights: {name}"] = lambda g=given: heads.BinaryClassHead(weight_column="w").loss(
            tf.constant([[1], [0]]), tf.constant(one), features=g()
        )
    calls["weights: column of another kind"] = lambda: heads.BinaryClassHead(weight_column=3).loss(
        tf.constant([[1], [0]]), tf.constant(one), features={}
    )
    calls["names without vocabulary"] = lambda: heads.MultiClassHead(3).loss(
        tf.constant([["a"], ["b"]]), tf.constant(three), features={}
    )
    calls["numbers with vocabulary"] = lambda: heads.MultiClassHead(
        3, label_vocabulary=["a", "b", "c"]
    ).loss(tf.constant([[0], [1]]), tf.constant(three), features={})
    for kind in ("BinaryClassHead", "MultiClassHead", "MultiLabelHead"):
        size = () if kind == "BinaryClassHead" else (3,)
        logits = one if kind == "BinaryClassHead" else three
        calls[f"unknown prediction of {kind}"] = lambda k=kind, s=size, g=logits: getattr(heads, k)(
            *s
        ).predictions(tf.constant(g), ["logits", "foo"])
    return calls


def _running(heads: Any) -> _Calls:
    """Mistakes that are seen as the graph runs."""
    binary = heads.BinaryClassHead
    one, three = [[0.5], [-1.0], [2.0]], [[1.0, 2.0, 3.0]] * 3
    cases: dict[str, tuple[Any, ...]] = {
        "binary, labels of two columns": (lambda: binary(), [[1, 0]] * 3, one),
        "binary, too few labels": (lambda: binary(), [[1], [0]], one),
        "binary, label too large": (lambda: binary(), [[1], [0], [5]], one),
        "binary, negative label": (lambda: binary(), [[1], [0], [-5]], one),
        "binary, logits of two columns": (lambda: binary(), [[1], [0], [1]], [[0.1, 0.2]] * 3),
        "too few weights": (lambda: binary(weight_column="w"), [[1]] * 3, one, [1.0, 2.0]),
        "two weights": (lambda: binary(weight_column="w"), [[1]] * 3, one, [[1.0, 2.0]] * 3),
        "multi-class, label too large": (lambda: heads.MultiClassHead(3), [[1], [0], [3]], three),
        "multi-class, negative label": (lambda: heads.MultiClassHead(3), [[1], [0], [-3]], three),
        "multi-class, too few labels": (lambda: heads.MultiClassHead(3), [[1], [0]], three),
        "multi-class, unknown name": (
            lambda: heads.MultiClassHead(3, label_vocabulary=["a", "b", "c"]),
            [["a"], ["x"], ["c"]],
            three,
        ),
        "binary, unknown name": (
            lambda: binary(label_vocabulary=["a", "b"]), [["a"], ["x"], ["b"]], one,
        ),
        "multi-label, 2 as indicator": (lambda: heads.MultiLabelHead(3), [[1, 0, 2]] * 3, three),
        "logistic, label above 1": (heads.LogisticRegressionHead, [[1], [0], [2]], one),
        "regression, too few labels": (heads.RegressionHead, [[1], [0]], one),
    }  # fmt: skip
    return {f"running {name}": lambda c=case: _run(*c) for name, case in cases.items()}


def _run(make: Callable[[], Any], labels: Any, logits: Any, weights: Any = None) -> None:
    """Computes a loss from placeholders without static shapes."""
    arrays = [np.array(labels), np.array(logits, np.float32)]
    arrays += [] if weights is None else [np.array(weights, np.float32)]
    placeholders = [
        v1.placeholder(tf.string if array.dtype.kind == "U" else array.dtype, [None] * array.ndim)
        for array in arrays
    ]
    features = {} if weights is None else {"w": placeholders[2]}
    loss = make().loss(placeholders[0], placeholders[1], features=features)
    with v1.Session() as session:
        session.run(v1.tables_initializer())
        session.run(loss, dict(zip(placeholders, arrays, strict=True)))


def _training(heads: Any, optimizers: Any) -> _Calls:
    v1_optimizer = v1.train.GradientDescentOptimizer(0.1)

    def spec(mode: str = "train", **arguments: Any) -> Callable[[], Any]:
        def call() -> Any:
            weight = v1.get_variable("weight", initializer=[[0.5], [1.0]])
            labels = arguments.pop("labels", [[1], [0]])
            given = {key: value() for key, value in arguments.items()}
            labels = None if labels is None else tf.constant(labels)
            if given.pop("variables", None):
                given["trainable_variables"] = [weight]
            return heads.BinaryClassHead().create_estimator_spec(
                {}, mode, tf.identity(weight), labels, **given
            )

        return call

    lists = {
        "a string": lambda: "ab",
        "an operation": tf.no_op,
        "a set": lambda: {tf.no_op()},
        "values of a dict": lambda: {0: v1.trainable_variables()[0]}.values(),
        "a generator": lambda: (variable for variable in v1.trainable_variables()),
    }
    return {
        **{
            f"trainable variables: {name}": spec(
                optimizer=lambda: optimizers.SGD(0.1), trainable_variables=make
            )
            for name, make in lists.items()
        },
        **{
            f"update_ops: {name}": spec(train_op_fn=lambda: tf.identity, update_ops=make)
            for name, make in lists.items()
        },
        "neither optimizer nor train_op_fn": spec(),
        "optimizer and train_op_fn": spec(
            optimizer=lambda: optimizers.SGD(0.1), train_op_fn=lambda: tf.identity
        ),
        "v1 optimizer": spec(optimizer=lambda: v1_optimizer, variables=lambda: True),
        "name of an optimizer": spec(optimizer=lambda: "SGD", variables=lambda: True),
        "a number as optimizer": spec(optimizer=lambda: 3, variables=lambda: True),
        "no trainable variables": spec(optimizer=lambda: optimizers.SGD(0.1)),
        "train_op_fn that returns nothing": spec(train_op_fn=lambda: lambda loss: None),
        "no labels in train": spec(labels=None, optimizer=lambda: optimizers.SGD(0.1)),
        "no labels in eval": spec("eval", labels=None),
        "no labels in infer": spec("infer", labels=None),
    }


def _several(heads: Any) -> _Calls:
    def two(**arguments: Any) -> Any:
        return heads.MultiHead(
            [heads.BinaryClassHead(name="a"), heads.MultiClassHead(3, name="b")], **arguments
        )

    unnamed = heads.BinaryClassHead
    good_logits = [[0.5, 1.0, 2.0, 3.0], [0.1, 0.3, 0.2, 0.0]]

    def loss(labels: Any, logits: Any = good_logits) -> Any:
        make = tf.constant
        return two().loss(
            {key: make(value) for key, value in labels.items()}
            if isinstance(labels, dict)
            else labels,
            {key: make(value) for key, value in logits.items()}
            if isinstance(logits, dict)
            else make(logits),
            features={},
        )

    both = {"a": [[1], [0]], "b": [[2], [1]]}

    def spec(head: Any, **arguments: Any) -> Any:
        return head.create_estimator_spec(
            {},
            "train",
            tf.constant(good_logits),
            tf.nest.map_structure(tf.constant, both),
            **arguments,
        )

    def different() -> Any:
        return heads.MultiHead(
            [
                heads.BinaryClassHead(name="a"),
                heads.MultiClassHead(3, name="b", loss_reduction="sum"),
            ]
        )

    return {
        "reduction of heads of different ones": lambda: different().loss_reduction,
        "heads of different reductions": lambda: spec(different(), train_op_fn=tf.identity),
        "heads of different reductions, no optimizer": lambda: spec(different()),
        "several heads, no optimizer": lambda: spec(two()),
        "no heads": lambda: heads.MultiHead([]),
        "heads None": lambda: heads.MultiHead(None),
        "a head without name": lambda: heads.MultiHead([unnamed(name="a"), unnamed()]),
        "one head weight for two": lambda: two(head_weights=[1.0]),
        "labels for one of two": lambda: loss({"a": [[1], [0]]}),
        "labels in no dict": lambda: loss([[1], [0]]),
        "logits for one of two": lambda: loss(both, {"a": [[0.1], [0.2]]}),
        "spec of several heads for a TPU": lambda: two()._create_tpu_estimator_spec(
            {}, "train", tf.constant(good_logits), labels=both
        ),
        "more labels than heads": lambda: loss({**both, "c": [[1], [1]]}),
    }
