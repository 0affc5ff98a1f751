"""Odd values for heads that are given to estimators, and for LinearSDCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import made, odd
from breadth.odd_values import x
from breadth.subjects_canned import batch, trained
from jobs import Api

tf1 = tf.compat.v1


class Plain:
    """A head of a program's own, which has what estimators ask for and no more."""

    logits_dimension = 1
    loss_reduction = "sum"
    name = "plain"

    def __init__(self, api: Api) -> None:
        self._api = api

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        predictions = {"logits": logits}
        if mode == "infer":
            return self._api.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.reduce_mean(tf.square(logits - tf.cast(labels, tf.float32)[:, None]))
        train_op = None
        if mode == "train" and train_op_fn is not None:
            train_op = train_op_fn(loss)
        elif mode == "train":
            train_op = tf.group(optimizer.get_updates(loss, trainable_variables))
        return self._api.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op
        )


GIVEN_HEADS: dict[str, Callable[[Api], Any]] = {
    "delegates": lambda api: Delegate(api.estimator.BinaryClassHead()),
    "subclass": lambda api: _subclass_of(api.estimator.BinaryClassHead()),
    "own": Plain,
    "a name": lambda api: "binary",
    "None": lambda api: None,
    "class": lambda api: api.estimator.BinaryClassHead,
}


def _by_head(kind: str, head: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        more = {
            "LinearEstimator": lambda: {"feature_columns": [x()]},
            "DNNEstimator": lambda: {"feature_columns": [x()], "hidden_units": [2]},
            "BaselineEstimator": dict,
        }[kind]()
        return trained(made(api, directory, kind, head(api), **more), "class")

    return ask


for _kind, _flavour in (
    *(("LinearEstimator", "v2"), ("LinearEstimator", "v1")),
    *(("DNNEstimator", "v2"), ("BaselineEstimator", "v2")),
):
    odd(f"{_kind}.head", {k: _by_head(_kind, v) for k, v in GIVEN_HEADS.items()}, (_flavour,))


def _sdca(estimator: str = "LinearClassifier", verb: str = "train", **arguments: Any) -> Any:
    def ask(api: Api, directory: str) -> Any:
        given = {name: make(api) for name, make in arguments.items()}
        of_estimator = {
            name: given.pop(name)
            for name in ("n_classes", "label_dimension", "sparse_combiner", "head", "ids", "label")
            if name in given
        }
        ids = of_estimator.pop("ids", tf1.constant(list("abcd")))
        label = of_estimator.pop("label", "class")
        settings = {"example_id_column": "id", **given}
        optimizer = api.estimator.experimental.LinearSDCA(**settings)

        def input_fn() -> Any:
            features, labels = batch(label)
            return {**features, **({} if ids is None else {"id": tf.constant(ids)})}, labels

        kind = made(
            api, directory, estimator, feature_columns=[x()], optimizer=optimizer, **of_estimator
        )
        if verb == "predict":
            return sorted(next(iter(kind.predict(input_fn))))
        kind.train(input_fn, steps=2)
        # The order in which examples are visited is random.
        return sorted(kind.evaluate(input_fn, steps=1))

    return ask


SDCA: dict[str, Any] = {
    "as usual": _sdca(ids=lambda api: list("abcd")),
    "ids of integers": _sdca(ids=lambda api: [1, 2, 3, 4]),
    "ids in a column": _sdca(ids=lambda api: [["a"], ["b"], ["c"], ["d"]]),
    "no ids": _sdca(ids=lambda api: None),
    "ids twice": _sdca(ids=lambda api: list("aabb")),
}
for _name, _values in {
    "num_loss_partitions": {
        "None": None,
        "zero": 0,
        "two": 2,
        "of NumPy": np.int64(1),
        "float": 1.0,
    },
    "num_table_shards": {"None": None, "zero": 0, "two": 2, "of NumPy": np.int64(2), "float": 2.0},
    "symmetric_l1_regularization": {"negative": -1.0, "int": 1, "of NumPy": np.float32(0.5)},
    "symmetric_l2_regularization": {"zero": 0.0, "half": 0.5, "of NumPy": np.float64(2)},
    "adaptive": {"int": 1, "of NumPy": np.bool_(True), "None": None},
    "example_id_column": {"None": None, "bytes": b"id", "of NumPy": np.str_("id")},
}.items():
    for _text, _value in _values.items():
        SDCA[f"{_name} {_text}"] = _sdca(
            ids=lambda api: list("abcd"), **{_name: lambda api, v=_value: v}
        )
for _verb in ("train", "predict"):
    SDCA |= {
        f"three classes, {_verb}": _sdca(
            verb=_verb, ids=lambda api: list("abcd"), n_classes=lambda api: 3
        ),
        f"two numbers, {_verb}": _sdca(
            "LinearRegressor",
            _verb,
            ids=lambda api: list("abcd"),
            label_dimension=lambda api: 2,
            label=lambda api: "pair",
        ),
        f"mean, {_verb}": _sdca(
            verb=_verb, ids=lambda api: list("abcd"), sparse_combiner=lambda api: "mean"
        ),
    }
    for _text, _head in {
        "subclass of a head": lambda api: _subclass_of(api.estimator.BinaryClassHead()),
        "head that delegates": lambda api: Delegate(api.estimator.BinaryClassHead()),
        "logistic regression": lambda api: api.estimator.LogisticRegressionHead(),
        "labels": lambda api: api.estimator.MultiLabelHead(2),
        "own head": Plain,
    }.items():
        SDCA[f"{_text}, {_verb}"] = _sdca(
            "LinearEstimator", _verb, ids=lambda api: list("abcd"), head=_head
        )
odd("LinearSDCA", SDCA, ("v2",))
