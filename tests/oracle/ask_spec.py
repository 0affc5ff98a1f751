"""Questions about EstimatorSpec: its errors and their messages, and its default values."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1


def questions(estimator: Any, keras: Any) -> dict[str, Callable[[], Any]]:
    """Returns the questions by name; each needs a separate graph.

    Args:
        estimator: the module of EstimatorSpec and `export`.
        keras: the module of `metrics`.
    """
    calls: dict[str, Callable[[], Any]] = {}
    ask = _Asker(estimator, calls)
    for add in (_loss, _train_op, _predictions, _graphs, _hooks, _exports, _changes, _order):
        add(ask)
    _metrics(ask, keras)
    return calls


class _Asker:
    """Adds questions about specs that have all a mode needs, unless told otherwise."""

    def __init__(self, estimator: Any, calls: dict[str, Callable[[], Any]]):
        self.estimator = estimator
        self.calls = calls

    def __call__(self, name: str, mode: str | None, **make: Callable[[], Any]) -> None:
        self.calls[name] = lambda: self.spec(mode, {key: f() for key, f in make.items()})

    def spec(self, mode: str | None, fields: dict[str, Any]) -> Any:
        given = {"loss": tf.constant(1.0), "train_op": tf.no_op(), "predictions": _p()}
        return self.estimator.EstimatorSpec(mode, **{**given, **fields})

    def bare(self, name: str, mode: str, **make: Callable[[], Any]) -> None:
        """Add a question about a spec that has these fields only."""
        self.calls[name] = lambda: self.estimator.EstimatorSpec(
            mode, **{key: f() for key, f in make.items()}
        )


def _p() -> tf.Tensor:
    return tf.constant([1.0], name="p")


def _none() -> None:
    return None


def _foreign() -> tf.Tensor:
    with tf.Graph().as_default():
        return tf.constant(1.0)


def _foreign_op() -> tf.Operation:
    with tf.Graph().as_default():
        return tf.no_op()


def _loss(ask: _Asker) -> None:
    values = {
        "string": lambda: "a",
        "float": lambda: 1.0,
        "integer tensor": lambda: tf.constant(1),
        "1 by 1": lambda: tf.constant([[1.0]]),
        "of 1": lambda: tf.constant([1.0]),
        "of 2": lambda: tf.constant([1.0, 2.0]),
        "of unknown shape": lambda: v1.placeholder(tf.float32, None),
        "of unknown length": lambda: v1.placeholder(tf.float32, [None]),
        "variable": lambda: v1.get_variable("x", []),
        "variable of 1": lambda: v1.get_variable("x", [1]),
    }
    for name, value in values.items():
        ask(f"loss {name}", "eval", loss=value)
    ask("loss of 1 in infer", "infer", loss=values["of 1"])
    ask("loss string in infer", "infer", loss=values["string"])
    for mode in ("train", "eval", "infer"):
        ask(f"no loss in {mode}", mode, loss=_none)


def _train_op(ask: _Asker) -> None:
    ask("train_op float", "train", train_op=lambda: 1.0)
    ask("train_op float in infer", "infer", train_op=lambda: 1.0)
    ask("train_op list", "train", train_op=lambda: [tf.no_op()])
    ask("train_op tensor", "train", train_op=lambda: tf.constant(1.0))
    for mode in ("train", "eval", "infer"):
        ask(f"no train_op in {mode}", mode, train_op=_none)


def _predictions(ask: _Asker) -> None:
    values = {
        "list": lambda: [_p()],
        "dict of float": lambda: {"a": 1.0},
        "dict of dict": lambda: {"a": {"b": _p()}},
        "float": lambda: 1.0,
        "string": lambda: "s",
        "sparse": lambda: tf.SparseTensor([[0, 0]], [1.0], [1, 1]),
        "dict of ragged": lambda: {"a": tf.ragged.constant([[1], [1, 2]])},
        "variable": lambda: {"x": v1.get_variable("x", [])},
        "operation": tf.no_op,
        "of integer key": lambda: {1: _p()},
        "of tuple key": lambda: {("a", "b"): _p()},
        "empty": dict,
        "ordered": lambda: collections.OrderedDict(b=_p(), a=_p()),
    }
    for name, value in values.items():
        ask(f"predictions {name}", "infer", predictions=value)
        ask(f"predictions {name} in eval", "eval", predictions=value)
    for mode in ("train", "eval", "infer"):
        ask(f"no predictions in {mode}", mode, predictions=_none)


def _graphs(ask: _Asker) -> None:
    ask("foreign loss", "eval", loss=_foreign)
    ask("foreign loss in infer", "infer", loss=_foreign)
    ask("foreign train_op", "train", train_op=_foreign_op)
    ask("foreign train_op in eval", "eval", train_op=_foreign_op)
    ask("foreign predictions", "infer", predictions=_foreign)
    ask("foreign predictions in dict", "infer", predictions=lambda: {"a": _foreign()})
    ask("foreign metric", "eval", eval_metric_ops=lambda: {"m": (_foreign(), tf.no_op())})
    ask("foreign update", "train", eval_metric_ops=lambda: {"m": (_p(), _foreign_op())})


def _metrics(ask: _Asker, keras: Any) -> None:
    def mean(*updates: float) -> Any:
        metric = keras.metrics.Mean(name="average")
        for value in updates:
            metric.update_state(value)
        return metric

    values = {
        "not a dict": lambda: [1],
        "a tensor": lambda: {"m": _p()},
        "of one": lambda: {"m": (_p(),)},
        "of three": lambda: {"m": (_p(), _p(), _p())},
        "a list": lambda: {"m": [_p(), _p()]},
        "operations": lambda: {"m": (tf.no_op(), tf.no_op())},
        "nested": lambda: {"m": ({"b": _p()}, tf.no_op())},
        "variables": lambda: {"m": (v1.get_variable("a", []), v1.get_variable("b", []))},
        "integer key": lambda: {1: (_p(), tf.no_op())},
        "keras": lambda: {"m": mean(1.0)},
        "keras not updated": lambda: {"m": mean()},
        "keras updated twice": lambda: {"m": mean(1.0, 2.0)},
        "of both kinds": lambda: {"m": mean(1.0), "n": v1.metrics.mean([1.0])},
    }
    for name, value in values.items():
        ask(f"metric {name}", "eval", eval_metric_ops=value)
    ask("metric of keras in train", "train", eval_metric_ops=values["keras"])
    ask("metric not a dict in infer", "infer", eval_metric_ops=values["not a dict"])

    def collections_after() -> Any:
        ask.spec("eval", {"eval_metric_ops": {"m": mean(1.0), "n": v1.metrics.mean([1.0])}})
        keys = (v1.GraphKeys.LOCAL_VARIABLES, v1.GraphKeys.METRIC_VARIABLES)
        return {key: sorted(v.name for v in v1.get_collection(key)) for key in keys}

    ask.calls["variables of metrics"] = collections_after


def _hooks(ask: _Asker) -> None:
    kinds = ("training_hooks", "training_chief_hooks", "evaluation_hooks", "prediction_hooks")
    for mode in ("train", "eval", "infer"):
        for kind in kinds:
            ask(f"bad {kind} in {mode}", mode, **{kind: lambda: [1]})
    for kind in kinds:
        ask(f"good {kind}", "train", **{kind: lambda: [v1.train.StopAtStepHook(1)]})
        ask(f"no list of {kind}", "train", **{kind: lambda: 1})
        ask(f"empty {kind}", "train", **{kind: list})
    ask("bad scaffold", "train", scaffold=lambda: 1)
    ask("class as scaffold", "infer", scaffold=lambda: v1.train.Scaffold)


def _exports(ask: _Asker) -> None:
    def predict() -> Any:
        return ask.estimator.export.PredictOutput(_p())

    values = {
        "list": lambda: [1],
        "of integer": lambda: {"a": 1},
        "of tensor": lambda: {"a": _p()},
        "empty": dict,
        "one": lambda: {"a": predict()},
        "two without default": lambda: {"a": predict(), "b": predict()},
        "two with default": lambda: {"a": predict(), "serving_default": predict()},
        "only default": lambda: {"serving_default": predict()},
    }
    for name, value in values.items():
        for mode in ("train", "eval", "infer"):
            ask(f"export_outputs {name} in {mode}", mode, export_outputs=value)

    def default_outputs() -> Any:
        predictions = {"x": _p()}
        return (
            ask.spec("infer", {"predictions": predictions})
            .export_outputs["serving_default"]
            .outputs
        )

    ask.calls["outputs of the default signature"] = default_outputs


def _changes(ask: _Asker) -> None:
    for name, changes in {
        "mode": {"mode": "infer"},
        "the same mode": {"mode": "train"},
        "loss": {"loss": "x"},
        "train_op to none": {"train_op": None},
        "hooks": {"training_hooks": [1]},
    }.items():
        ask.calls[f"replace {name}"] = lambda changes=changes: ask.spec("train", {})._replace(
            **changes
        )
    for mode in (None, "predict"):
        ask(f"mode {mode}", mode)


def _order(ask: _Asker) -> None:
    """Specs with several faults: which one is named."""
    wrong = {
        "train_op": lambda: 1,
        "loss": lambda: 2,
        "predictions": lambda: 3,
        "export_outputs": lambda: 4,
        "training_hooks": lambda: [5],
        "eval_metric_ops": lambda: 7,
        "scaffold": lambda: 6,
    }
    names = list(wrong)
    for start in range(len(names)):
        faults = {name: wrong[name] for name in names[start:]}
        ask(f"all wrong from {names[start]}", "infer", **faults)
    for mode in ("train", "eval", "infer"):
        ask.bare(f"nothing given in {mode}", mode)
    ask.bare("train_op given only", "train", train_op=tf.no_op)
    ask.bare("wrong loss and no train_op", "train", loss=lambda: 1)
    ask.bare("loss given only", "eval", loss=lambda: tf.constant(1.0))
    ask.bare("predictions given only", "infer", predictions=_p)
