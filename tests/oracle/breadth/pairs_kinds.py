"""All pairs of what classifiers, regressors, recurrent networks and k-means are made with.

Every case trains, evaluates and predicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import canned_rnn
import numpy as np
import tensorflow as tf
from breadth.odd import made, old_loops
from breadth.pairing import Choice, pairings
from breadth.subjects_canned import batch, tags, trained
from canned_figures import FixedValues
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column


class Case(NamedTuple):
    """One choice of each, of a family.

    Attributes:
        family: The name of the family.
        choice: The choice of each kind.
        run: Function from (choice, API, directory) to the answer.
    """

    family: str
    choice: Choice
    run: Callable[[Choice, Api, str], Any]

    @property
    def flavour(self) -> str:
        return self.choice["flavour"]

    @property
    def name(self) -> str:
        return f"pairs of {self.family} " + " ".join(self.choice.values())

    def ask(self, api: Api, directory: str) -> Any:
        return self.run(self.choice, api, directory)


KINDS = {
    "flavour": ("v2", "v1"),
    "kind": (
        *("LinearClassifier", "LinearRegressor", "DNNClassifier", "DNNRegressor"),
        *("DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor"),
    ),
    "labels": ("plain", "several", "named"),
    "weights": ("alike", "weighted"),
    "optimizer": ("name", "legacy", "v1", "function"),
    "column": ("numeric", "indicator", "mixed"),
    "verbs": ("once", "continued", "warm", "both"),
    "more": ("sum", "norm", "mean"),
}


def _columns(column: str) -> list[Any]:
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)
    return {
        "numeric": lambda: [fc.numeric_column("x", shape=2)],
        "indicator": lambda: [fc.indicator_column(word)],
        "mixed": lambda: [fc.numeric_column("age"), fc.embedding_column(word, 2)],
    }[column]()


def _optimizer(kind: str, api: Api) -> Any:
    legacy = api.keras.optimizers.legacy
    return {
        "name": "Adam",
        "legacy": legacy.Adagrad(0.1),
        "v1": tf1.train.FtrlOptimizer(0.1),
        "function": lambda: (
            tf1.train.AdamOptimizer(0.1) if api.name == "v1" else legacy.SGD(0.1, momentum=0.5)
        ),
    }[kind]


def _of_kind(choice: Choice, api: Api, **more: Any) -> dict[str, Any]:
    """Returns the arguments of a classifier or regressor."""
    kind, optimizer = choice["kind"], _optimizer(choice["optimizer"], api)
    columns = _columns(choice["column"])
    if "Combined" in kind:
        arguments = {
            "linear_feature_columns": columns,
            "linear_optimizer": optimizer,
            "dnn_feature_columns": _columns("numeric"),
            "dnn_optimizer": _optimizer(choice["optimizer"], api),
            "dnn_hidden_units": [3, 2],
        }
    else:
        arguments = {"feature_columns": columns, "optimizer": optimizer}
        arguments |= {"hidden_units": [3, 2]} if "DNN" in kind else {}
    if choice["weights"] == "weighted":
        arguments["weight_column"] = "weight"
    if "Classifier" in kind:
        arguments |= {"several": {"n_classes": 3}, "named": {"label_vocabulary": ["lo", "hi"]}}.get(
            choice["labels"], {}
        )
    elif choice["labels"] == "several":
        arguments["label_dimension"] = 2
    if choice["more"] == "sum":
        arguments["loss_reduction"] = "sum" if api.name == "v2" else "weighted_sum"
    if choice["more"] == "norm" and "DNN" in kind:
        arguments["batch_norm"] = True
    if choice["more"] == "mean" and "DNN" not in kind:
        arguments["sparse_combiner"] = "mean"
    return arguments | more


def _label(choice: Choice) -> str:
    if "Classifier" in choice["kind"]:
        return "name" if choice["labels"] == "named" else "class"
    return "pair" if choice["labels"] == "several" else "number"


def _run_kind(choice: Choice, api: Api, directory: str) -> Any:
    label, kind = _label(choice), choice["kind"]
    if choice["verbs"] == "warm":
        first = made(api, f"{directory}/first", kind, **_of_kind(choice, api))
        first.train(lambda: batch(label), hooks=[FixedValues()], steps=1)
        warm = _of_kind(choice, api, warm_start_from=f"{directory}/first/model")
        return _figures(made(api, directory, kind, **warm), label)
    if choice["verbs"] == "continued":
        first = made(api, directory, kind, **_of_kind(choice, api))
        first.train(lambda: batch(label), hooks=[FixedValues()], steps=1)
        return _figures(made(api, directory, kind, **_of_kind(choice, api)), label)
    estimator = made(api, directory, kind, **_of_kind(choice, api))
    if choice["verbs"] == "both":
        est = api.estimator
        train = est.TrainSpec(lambda: batch(label), max_steps=2, hooks=[FixedValues()])
        found, _ = est.train_and_evaluate(
            estimator, train, est.EvalSpec(lambda: batch(label), steps=1)
        )
        return [{k: float(v) for k, v in sorted(found.items())}, tags(estimator.model_dir)]
    return trained(estimator, label)


def _figures(estimator: Any, label: str) -> Any:
    estimator.train(lambda: batch(label), steps=1)
    found = estimator.evaluate(lambda: batch(label), steps=1)
    values = {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}
    return [
        {k: float(v) for k, v in sorted(found.items())},
        {name: float(np.sum(np.abs(value))) for name, value in sorted(values.items())},
    ]


RECURRENT = {
    "flavour": ("v2",),
    "kind": ("classes", "two classes", "head", "binary head"),
    "cell": ("simple_rnn", "lstm", "gru", "class", "function"),
    "units": ("one", "two"),
    "optimizer": ("name", "legacy", "function"),
    "column": ("words", "sizes", "mixed"),
    "context": ("no context", "context"),
}


def _run_recurrent(choice: Choice, api: Api, directory: str) -> Any:
    words, sizes = canned_rnn.columns()
    units = [3] if choice["units"] == "one" else [3, 2]
    cells = api.keras.layers
    arguments: dict[str, Any] = {
        "sequence_feature_columns": {"words": [words], "sizes": [sizes], "mixed": [words, sizes]}[
            choice["column"]
        ],
        "optimizer": _optimizer(choice["optimizer"], api),
        "return_sequences": True,
    }
    if choice["context"] == "context":
        arguments["context_feature_columns"] = canned_rnn.context_columns()
    if choice["cell"] == "function":
        arguments["rnn_cell_fn"] = lambda: [cells.GRUCell(size) for size in units]
    else:
        of_class = choice["cell"] == "class"
        arguments |= {
            "units": units,
            "cell_type": cells.SimpleRNNCell if of_class else choice["cell"],
        }
    classes = 2 if "two" in choice["kind"] or "binary" in choice["kind"] else 3
    if "head" in choice["kind"]:
        est = api.estimator
        head = est.BinaryClassHead() if classes == 2 else est.MultiClassHead(3)
        kind = "RNNEstimator"
        arguments["head"] = canned_rnn._of_steps(head)
    else:
        kind, arguments["n_classes"] = "RNNClassifier", classes

    def input_fn() -> Any:
        features, labels = canned_rnn.of_steps()
        return features, tf.SparseTensor(labels.indices, labels.values % classes, [4, 4])

    with old_loops():
        estimator = made(api, directory, kind, **arguments)
        estimator.train(input_fn, hooks=[FixedValues()], steps=2)
        found = estimator.evaluate(input_fn, steps=1)
        row = next(iter(estimator.predict(input_fn)))
    return [
        {key: float(value) for key, value in sorted(found.items())},
        {key: value for key, value in sorted(row.items()) if key != "all_classes"},
        sorted(estimator.get_variable_names()),
    ]


CLUSTERS = {
    "flavour": ("v1",),
    "initial": ("points", "function", "doubles", "list"),
    "distance": ("squared_euclidean", "cosine"),
    "batches": ("full", "mini", "two"),
    "input": ("tensor", "dict", "columns", "one column"),
    "tolerance": ("no tolerance", "tolerance"),
    "seed": ("no seed", "seed"),
}
POINTS = np.array([[1, 0], [0, 1], [1, 1], [10, 10], [10, 11], [20, 1]], np.float32)


def _run_clusters(choice: Choice, api: Api, directory: str) -> Any:
    arguments: dict[str, Any] = {
        "initial_clusters": {
            "points": POINTS[[0, 3]],
            "function": lambda inputs, count: tf.constant(POINTS[[0, 3]]),
            "doubles": POINTS[[1, 5]].astype(np.float64),
            "list": POINTS[[0, 4]].tolist(),
        }[choice["initial"]],
        "distance_metric": choice["distance"],
        "use_mini_batch": choice["batches"] != "full",
        # The original does not wait for the distances of a step before it replaces the centers.
        "mini_batch_steps_per_iteration": 100 if choice["batches"] == "two" else 1,
        "relative_tolerance": 1e-9 if choice["tolerance"] == "tolerance" else None,
        "seed": 3 if choice["seed"] == "seed" else None,
    }
    if "column" in choice["input"]:
        column = fc.numeric_column("x", shape=2)
        arguments["feature_columns"] = [column] if choice["input"] == "columns" else column
    features = POINTS if choice["input"] == "tensor" else {"x": POINTS}

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(features)

    estimator = made(api, directory, "KMeans", 2, **arguments)
    estimator.train(lambda: input_fn().repeat(), steps=2)
    return [
        estimator.score(input_fn),
        list(map(int, estimator.predict_cluster_index(input_fn))),
        np.array(list(estimator.transform(input_fn))),
        estimator.cluster_centers(),
        sorted(estimator.get_variable_names()),
    ]


def questions() -> dict[str, Case]:
    cases = [
        Case(family, choice, run)
        for family, choices, run in (
            ("kinds", KINDS, _run_kind),
            ("recurrent", RECURRENT, _run_recurrent),
            ("clusters", CLUSTERS, _run_clusters),
        )
        for choice in pairings(choices)
    ]
    return {case.name: case for case in cases}
