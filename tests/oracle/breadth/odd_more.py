"""Odd values for k-means, recurrent networks, LinearSDCA, heads and builders of logits."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import canned_rnn
import numpy as np
import tensorflow as tf
from breadth.forms import Delegate, _subclass_of
from breadth.odd import Names, made, odd, old_loops
from breadth.odd_values import OPTIMIZERS, X, Y, word, x
from breadth.subjects_canned import batch, trained
from canned_figures import FixedValues
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column
POINTS = np.array([[1, 0], [0, 1], [1, 1], [10, 10], [10, 11], [20, 1]], np.float32)


def _clustered(points: Callable[[], Any], **arguments: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        values = {name: make() for name, make in arguments.items()}
        count = values.pop("num_clusters", 2)
        values.setdefault("initial_clusters", POINTS[[0, 3]].tolist())
        estimator = made(api, directory, "KMeans", count, **values)
        estimator.train(points, steps=2)
        return [
            estimator.score(points),
            sorted(map(int, estimator.predict_cluster_index(lambda: _once(points)))),
            np.array(list(estimator.transform(lambda: _once(points)))),
            estimator.cluster_centers(),
            sorted(estimator.get_variable_names()),
        ]

    return ask


def _once(points: Callable[[], Any]) -> Any:
    found = points()
    return found.take(1) if isinstance(found, tf.data.Dataset) else found


def _tensor() -> Any:
    return tf.data.Dataset.from_tensors(POINTS).repeat()


def _of(features: Callable[[], Any]) -> Any:
    return lambda: tf.data.Dataset.from_tensors(features()).repeat()


POINTS_GIVEN: dict[str, Callable[[], Any]] = {
    "a tensor": _tensor,
    "a dict": _of(lambda: {"x": POINTS}),
    "a dict of two": _of(lambda: {"b": POINTS[:, :1], "a": POINTS[:, 1:]}),
    "a dict of numbers": _of(lambda: {"b": POINTS[:, 0], "a": POINTS[:, 1]}),
    "numbers alone": _of(lambda: POINTS[:, 0]),
    "with labels": _of(lambda: (POINTS, POINTS[:, 0])),
    "doubles": _of(lambda: POINTS.astype(np.float64)),
    "integers": _of(lambda: POINTS.astype(np.int64)),
    "three dimensions": _of(lambda: POINTS.reshape([3, 2, 2])),
    "sparse": _of(lambda: tf.sparse.from_dense(POINTS)),
    "a scalar in batches": _of(lambda: np.float32(1)),
}
CENTERS: dict[str, Callable[[], Any]] = {
    "list": lambda: POINTS[[0, 3]].tolist(),
    "tuple": lambda: ((1.0, 0.0), (10.0, 10.0)),
    "doubles": lambda: POINTS[[0, 3]].astype(np.float64),
    "integers": lambda: [[1, 0], [10, 10]],
    "a tensor": lambda: tf.constant(POINTS[[0, 3]]),
    "too few": lambda: POINTS[[0]],
    "too many": lambda: POINTS[[0, 3, 5]],
    "of another size": lambda: POINTS[[0, 3], :1],
    "function": lambda: lambda inputs, count: tf.constant(POINTS[[0, 3]]),
    "function of doubles": lambda: lambda inputs, count: POINTS[[0, 3]].astype(np.float64),
    "partial": lambda: functools.partial(lambda a, inputs, count: inputs[0][:2], 1),
    "object": lambda: type("Init", (), {"__call__": lambda self, i, n: i[0][:2]})(),
    "function of too many": lambda: lambda inputs, count: inputs[0],
    "unknown": lambda: "nothing",
    "a str of NumPy": lambda: np.str_("kmeans_plus_plus"),
    "bytes": lambda: b"random",
    "None": lambda: None,
}
odd("KMeans.points", {k: _clustered(v) for k, v in POINTS_GIVEN.items()}, ("v1",))
odd(
    "KMeans.initial_clusters",
    {k: _clustered(_tensor, initial_clusters=v) for k, v in CENTERS.items()},
    ("v1",),
)
KMEANS: dict[str, dict[str, Callable[[], Any]]] = {
    "count of NumPy": {"num_clusters": lambda: np.int64(2)},
    "count that is a float": {"num_clusters": lambda: 2.0},
    "count that is an array": {"num_clusters": lambda: np.array(2)},
    "count that is a tensor": {"num_clusters": lambda: tf.constant(2)},
    "no count": {"num_clusters": lambda: 0},
    "negative count": {"num_clusters": lambda: -1},
    "cosine": {"distance_metric": lambda: "cosine"},
    "distance of NumPy": {"distance_metric": lambda: np.str_("cosine")},
    "unknown distance": {"distance_metric": lambda: "nothing"},
    "all points": {"use_mini_batch": lambda: False},
    "all points, by an int": {"use_mini_batch": lambda: 0},
    "tolerance": {"use_mini_batch": lambda: False, "relative_tolerance": lambda: 0.5},
    "tolerance with mini batches": {"relative_tolerance": lambda: 0.5},
    "negative tolerance": {"use_mini_batch": lambda: False, "relative_tolerance": lambda: -1},
    "no iterations": {"mini_batch_steps_per_iteration": lambda: 0},
    "negative iterations": {"mini_batch_steps_per_iteration": lambda: -1},
    "iterations of NumPy": {"mini_batch_steps_per_iteration": lambda: np.int64(2)},
    "iterations that are a float": {"mini_batch_steps_per_iteration": lambda: 2.0},
    "seed of NumPy": {"seed": lambda: np.int64(3)},
    "seed that is a float": {"seed": lambda: 3.0},
    "no retries": {
        "kmeans_plus_plus_num_retries": lambda: 0,
        "initial_clusters": lambda: "kmeans_plus_plus",
        "seed": lambda: 1,
    },
    "negative retries": {
        "kmeans_plus_plus_num_retries": lambda: -2,
        "initial_clusters": lambda: "kmeans_plus_plus",
        "seed": lambda: 1,
    },
}
odd("KMeans", {k: _clustered(_tensor, **v) for k, v in KMEANS.items()}, ("v1",))
KMEANS_COLUMNS: dict[str, Callable[[], Any]] = {
    "list": lambda: [x()],
    "tuple": lambda: (x(),),
    "one": x,
    "generator": lambda: (column for column in [x()]),
    "dict": lambda: {"x": x()},
    "none of them": list,
    "categorical": lambda: [word()],
}
odd(
    "KMeans.feature_columns",
    {
        k: _clustered(_of(lambda: {"x": POINTS, "y": POINTS}), feature_columns=v)
        for k, v in KMEANS_COLUMNS.items()
    },
    ("v1",),
)


def _recurrent(kind: str = "RNNClassifier", **arguments: Callable[[Api], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        given = {
            "sequence_feature_columns": lambda api: canned_rnn.columns(),
            **({} if "rnn_cell_fn" in arguments else {"units": lambda api: [3]}),
            "return_sequences": lambda api: True,
            **({"n_classes": lambda api: 3} if kind == "RNNClassifier" else {}),
            **arguments,
        }
        values = {name: make(api) for name, make in given.items()}
        features = values.pop("features", None)

        def input_fn() -> Any:
            found, labels = canned_rnn.of_steps()
            found = found if features is None else features(found)
            return found, labels

        with old_loops():
            estimator = made(api, directory, kind, **values)
            estimator.train(input_fn, hooks=[FixedValues()], steps=1)
            found = estimator.evaluate(input_fn, steps=1)
            row = next(iter(estimator.predict(input_fn)))
        return [
            {key: float(value) for key, value in sorted(found.items())},
            sorted(row),
            sorted(estimator.get_variable_names()),
        ]

    return ask


def _cells(api: Api) -> Any:
    return api.keras.layers


RECURRENT: dict[str, dict[str, Callable[[Api], Any]]] = {
    "units: tuple": {"units": lambda api: (3, 2)},
    "units: array": {"units": lambda api: np.array([3, 2])},
    "units: generator": {"units": lambda api: (size for size in (3, 2))},
    "units: a number": {"units": lambda api: 3},
    "units: floats": {"units": lambda api: [3.0]},
    "units: a string": {"units": lambda api: "3"},
    "units: strings": {"units": lambda api: ["3"]},
    "units: none of them": {"units": lambda api: []},
    "units: None": {"units": lambda api: None},
    "units: a dict": {"units": lambda api: {3: "a"}},
    "cell: class": {"cell_type": lambda api: _cells(api).GRUCell},
    "cell: subclass": {"cell_type": lambda api: type("Mine", (_cells(api).GRUCell,), {})},
    "cell: function": {"cell_type": lambda api: lambda units: _cells(api).GRUCell(units)},
    "cell: partial": {
        "cell_type": lambda api: functools.partial(_cells(api).SimpleRNNCell, activation="relu")
    },
    "cell: capitals": {"cell_type": lambda api: "LSTM"},
    "cell: a str of NumPy": {"cell_type": lambda api: np.str_("gru")},
    "cell: None": {"cell_type": lambda api: None},
    "cell: a number": {"cell_type": lambda api: 3},
    "cell: a list": {"cell_type": lambda api: ["gru"]},
    "cell: a layer": {"cell_type": lambda api: _cells(api).GRU},
    "function": {"rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3)},
    "function: a list": {
        "rnn_cell_fn": lambda api: lambda: [_cells(api).GRUCell(3), _cells(api).GRUCell(2)]
    },
    "function: a tuple": {
        "rnn_cell_fn": lambda api: lambda: (_cells(api).GRUCell(3), _cells(api).GRUCell(2))
    },
    "function: stacked": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).StackedRNNCells([_cells(api).GRUCell(3)])
    },
    "function: partial": {"rnn_cell_fn": lambda api: functools.partial(_cells(api).LSTMCell, 3)},
    "function: an object": {
        "rnn_cell_fn": lambda api: type(
            "Cells", (), {"__call__": lambda s: _cells(api).GRUCell(3)}
        )()
    },
    "function: None": {"rnn_cell_fn": lambda api: lambda: None},
    "function: with units": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3),
        "units": lambda api: [3],
    },
    "function: with a cell": {
        "rnn_cell_fn": lambda api: lambda: _cells(api).GRUCell(3),
        "cell_type": lambda api: "gru",
    },
    "function: a cell": {"rnn_cell_fn": lambda api: _cells(api).GRUCell(3)},
    "columns: one": {"sequence_feature_columns": lambda api: fc.sequence_numeric_column("sizes")},
    "columns: tuple": {"sequence_feature_columns": lambda api: tuple(canned_rnn.columns())},
    "columns: generator": {"sequence_feature_columns": lambda api: iter(canned_rnn.columns())},
    "columns: no sequence": {"sequence_feature_columns": lambda api: [fc.numeric_column("age")]},
    "columns: of words": {
        "sequence_feature_columns": lambda api: [
            fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
        ]
    },
    "columns: indicator": {
        "sequence_feature_columns": lambda api: [
            fc.indicator_column(
                fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
            )
        ]
    },
    "columns: none of them": {"sequence_feature_columns": lambda api: []},
    "context: list": {"context_feature_columns": lambda api: canned_rnn.context_columns()},
    "context: one": {"context_feature_columns": lambda api: canned_rnn.context_columns()[0]},
    "context: tuple": {"context_feature_columns": lambda api: tuple(canned_rnn.context_columns())},
    "context: generator": {
        "context_feature_columns": lambda api: iter(canned_rnn.context_columns())
    },
    "context: none of them": {"context_feature_columns": lambda api: []},
    "context: of words": {
        "context_feature_columns": lambda api: [
            fc.categorical_column_with_vocabulary_list("words", ["a", "b"])
        ]
    },
    "features: OrderedDict": {"features": lambda api: collections.OrderedDict},
    "features: own mapping": {"features": lambda api: Names},
    "features: UserDict": {"features": lambda api: collections.UserDict},
    "features: a tensor": {"features": lambda api: lambda found: found["age"]},
    "features: ragged": {
        "features": lambda api: (
            lambda found: {
                **found,
                "words": tf.RaggedTensor.from_sparse(found["words"]),
            }
        )
    },
    "features: dense": {
        "features": lambda api: (
            lambda found: {
                **found,
                "words": tf.sparse.to_dense(found["words"]),
                "sizes": tf.sparse.to_dense(found["sizes"]),
            }
        )
    },
    "steps: 1": {"return_sequences": lambda api: 1},
}
odd("RNNClassifier", {k: _recurrent(**v) for k, v in RECURRENT.items()}, ("v2",))
odd(
    "RNNClassifier.optimizer",
    {
        kind: _recurrent(optimizer=OPTIMIZERS[kind])
        for kind in ("class", "clipped", "delegates", "None", "schedule", "subclass of v1")
    },
    ("v2",),
)
HEADS: dict[str, Callable[[Api], Any]] = {
    "of steps": lambda api: canned_rnn._of_steps(api.estimator.MultiClassHead(3)),
    "delegates": lambda api: Delegate(canned_rnn._of_steps(api.estimator.MultiClassHead(3))),
    "subclass": lambda api: _subclass_of(canned_rnn._of_steps(api.estimator.MultiClassHead(3))),
    "of no steps": lambda api: api.estimator.MultiClassHead(3),
}
odd("RNNEstimator.head", {k: _recurrent("RNNEstimator", head=v) for k, v in HEADS.items()}, ("v2",))


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
