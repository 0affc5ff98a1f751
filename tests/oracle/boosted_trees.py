"""Boosted trees: questions to the original and to estimator_train.

The original is tf.estimator of TensorFlow 2.8: later releases lack the kernels.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from canned_figures import receiver
from graph_collections import Sizes, added, sizes
from outcomes import outcome

fc = tf.feature_column
Rows = dict[str, np.ndarray]


@functools.cache
def people() -> tuple[Rows, Rows]:
    """Passengers with a fare, an age, a sex and a class, who survive or not."""
    random = np.random.RandomState(0)
    features = {
        "age": random.uniform(0, 80, 200).astype(np.float32),
        "fare": random.gamma(2.0, 20.0, 200).astype(np.float32),
        "sex": random.choice(["female", "male"], 200),
        "class": random.choice(["first", "second", "third"], 200),
        "siblings": random.poisson(1.0, 200).astype(np.float32),
        "weight": random.choice([0.5, 1.0, 2.5], 200).astype(np.float32),
    }
    features["penalty"] = 1.5 - features["weight"]  # Negative for a third.
    score = 1.5 * (features["sex"] == "female") - 0.02 * features["age"]
    score += 0.01 * features["fare"] + 0.4 * (features["class"] == "first")
    score += random.normal(0, 0.7, 200)
    survived = (score > 0.3).astype(np.int64)
    named = np.where(survived, "yes", "no")
    counts = np.floor(np.exp(score)).astype(np.int64)
    both = np.stack([survived, features["age"] > 40], 1).astype(np.int64)
    return features, {"survived": survived, "named": named, "counts": counts, "both": both}


@functools.cache
def events_of_collisions() -> tuple[Rows, Rows]:
    """Six numbers of an event each, a class of two or three, and one or two numbers to predict."""
    random = np.random.RandomState(1)
    x = random.normal(0, 1, (300, 6)).astype(np.float32)
    score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.3 * random.normal(0, 1, 300)
    labels = {
        "signal": (score > 0).astype(np.int64),
        "kind": np.digitize(score, [-0.5, 0.6]).astype(np.int64),
        "number": score.astype(np.float32),
        "numbers": np.stack([score, x[:, 3] ** 2], 1).astype(np.float32),
    }
    return {f"x{number}": x[:, number] for number in range(6)}, labels


DATA = {"people": people, "events": events_of_collisions}


def columns(data: str) -> list[Any]:
    if data == "events":
        cuts = [-1.2, -0.7, -0.3, 0.0, 0.3, 0.7, 1.2]
        return [fc.bucketized_column(fc.numeric_column(f"x{n}"), cuts) for n in range(6)]
    return [
        fc.bucketized_column(fc.numeric_column("age"), [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]),
        fc.bucketized_column(fc.numeric_column("fare"), [10.0, 20.0, 40.0, 80.0]),
        fc.indicator_column(sex()),
        fc.indicator_column(passenger_class()),
    ]


def sex() -> Any:
    # With both words the splits on one and on the other would be as good.
    return fc.categorical_column_with_vocabulary_list("sex", ["female"])


def passenger_class() -> Any:
    # The third class is missing.
    return fc.categorical_column_with_vocabulary_list("class", ["first", "second"])


def input_fn(data: str, label: str, batches: int = 1, repeat: int | None = None) -> Any:
    features, labels = DATA[data]()
    size = len(labels[label]) // batches

    def batches_of() -> tf.data.Dataset:
        rows = tf.data.Dataset.from_tensor_slices((features, labels[label]))
        return rows.repeat(repeat).batch(size)

    return batches_of


def tensors(data: str, label: str) -> Any:
    """Returns all data as tensors: how the original trains in memory."""
    features, labels = DATA[data]()
    return lambda: ({k: tf.constant(v) for k, v in features.items()}, tf.constant(labels[label]))


class Case(NamedTuple):
    """A model to train.

    Attributes:
        kind: Name of the estimator's class.
        data: Name of the data.
        label: Name of the label.
        settings: Arguments of the estimator.
        columns: Feature columns; by default those of the data.
        head: Function of the estimators' API that makes the head.
    """

    kind: str
    data: str
    label: str
    settings: dict[str, Any] = {}  # noqa: RUF012
    columns: Callable[[], list[Any]] | None = None
    head: Callable[[Any], Any] | None = None


_C, _R, _E = "BoostedTreesClassifier", "BoostedTreesRegressor", "BoostedTreesEstimator"
_PEOPLE, _EVENTS = (_C, "people", "survived"), (_C, "events", "signal")
CASES: dict[str, Case] = {
    "people": Case(*_PEOPLE),
    "people center_bias": Case(*_PEOPLE, {"center_bias": True}),
    "people l1": Case(*_PEOPLE, {"l1_regularization": 0.005}),
    "people l2 center_bias": Case(*_PEOPLE, {"l2_regularization": 0.02, "center_bias": True}),
    "people l1 l2 center_bias": Case(
        *_PEOPLE, {"l1_regularization": 1e-5, "l2_regularization": 0.01, "center_bias": True}
    ),
    "people min_node_weight": Case(*_PEOPLE, {"min_node_weight": 0.1}),
    "people pre": Case(*_PEOPLE, {"pruning_mode": "pre", "tree_complexity": 0.01, "n_trees": 2}),
    "people pre nothing left": Case(*_PEOPLE, {"pruning_mode": "pre", "tree_complexity": 1.0}),
    "people post": Case(*_PEOPLE, {"pruning_mode": "post", "tree_complexity": 0.015}),
    "people post center_bias": Case(
        *_PEOPLE, {"pruning_mode": "post", "tree_complexity": 0.02, "center_bias": True}
    ),
    "people post nothing left": Case(
        *_PEOPLE, {"pruning_mode": "post", "tree_complexity": 1.0, "center_bias": True}
    ),
    "people weights": Case(*_PEOPLE, {"weight_column": "weight", "center_bias": True}),
    # A second tree would come from sums that cancel to nothing.
    "people negative weights": Case(*_PEOPLE, {"weight_column": "penalty", "n_trees": 1}),
    "people names": Case(_C, "people", "named", {"label_vocabulary": ["no", "yes"]}),
    "people categorical": Case(*_PEOPLE, columns=lambda: [sex(), passenger_class()]),
    "people numeric": Case(
        *_PEOPLE, {"center_bias": True}, lambda: [fc.numeric_column("siblings"), *columns("people")]
    ),
    "events": Case(*_EVENTS, {"learning_rate": 0.3}),
    "events batches": Case(*_EVENTS, {"n_batches_per_layer": 3, "center_bias": True}),
    "events regression": Case(_R, "events", "number", {"center_bias": True}),
    "events two numbers": Case(_R, "events", "numbers", {"label_dimension": 2}),
    "events three classes": Case(_C, "events", "kind", {"n_classes": 3}),
    "events three classes l2": Case(
        _C, "events", "kind", {"n_classes": 3, "l2_regularization": 0.05, "min_node_weight": 0.04}
    ),
    "poisson head": Case(
        _E, "people", "counts", {"center_bias": True}, head=lambda e: e.PoissonRegressionHead()
    ),
    "sum head": Case(
        _E,
        "people",
        "survived",
        {"n_batches_per_layer": 2},
        head=lambda e: e.BinaryClassHead("weight", loss_reduction="sum"),
    ),
    "two labels head": Case(_E, "people", "both", head=lambda e: e.MultiLabelHead(2)),
    "loss_fn head": Case(
        _E,
        "events",
        "number",
        {"center_bias": True},
        head=lambda e: e.RegressionHead(
            loss_fn=lambda labels, logits: tf.abs(labels - logits) + (labels - logits) ** 4
        ),
    ),
}
MODES = ("train", "eval", "infer")
COLLECTIONS = [f"{name}, {mode}" for name in CASES for mode in MODES]
# The cases that are evaluated, and whose predictions are made and explained.
USED = (
    "people center_bias",
    "people numeric",
    "people post nothing left",
    "people names",
    "events regression",
    "events two numbers",
    "events three classes",
    "events three classes l2",
    "poisson head",
    "sum head",
    "two labels head",
)
# Data, label and other arguments of models of fifty trees whose losses are recorded.
LONG = {
    "people": ("people", "survived", {"center_bias": True}),
    "events": ("events", "signal", {}),
    "three classes": ("events", "kind", {"n_classes": 3}),
}


def made(api: Any, case: Case, model_dir: str, **more: Any) -> Any:
    """Returns the estimator of a case; `more` are further arguments."""
    settings = {"n_trees": 2, "max_depth": 3, "n_batches_per_layer": 1, **case.settings, **more}
    if case.head is not None:
        settings["head"] = case.head(api)
    return getattr(api, case.kind)(
        (case.columns or functools.partial(columns, case.data))(),
        model_dir=model_dir,
        config=api.RunConfig(save_summary_steps=1),
        **settings,
    )


def observe(
    api: Any, name: str, read_trees: Callable[[Any], Any], *, more: bool = False
) -> dict[str, Any]:
    """Train, and for some models evaluate, predict and explain: figures by name.

    Args:
        api: Has the estimators.
        name: Which case.
        read_trees: Returns the trees of an estimator.
        more: Whether to evaluate and predict whatever case it is.
    """
    case = CASES[name]
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = made(api, case, model_dir)
        batches = case.settings.get("n_batches_per_layer", 1)
        estimator.train(input_fn(case.data, case.label, batches))
        found = {
            "trees": read_trees(estimator),
            "tags": tags(model_dir),
            "importances": importances(estimator, normalize=False),
            "normalized": importances(estimator, normalize=True),
        }
        if name in USED or more:
            found |= use(estimator, input_fn(case.data, case.label, repeat=1))
        return found


def use(estimator: Any, once: Any) -> dict[str, Any]:
    result = estimator.evaluate(once)
    rows = [row for row, _ in zip(estimator.predict(once), range(5), strict=False)]
    return {
        "evaluation": {key: float(value) for key, value in result.items()},
        "predictions": [{key: [str(v.dtype), plain(v)] for key, v in row.items()} for row in rows],
        "explanations": explanations(estimator, once),
    }


def collections(api: Any, name: str, mode: str) -> Sizes:
    """Counts the entries that a call of the model_fn adds to each collection of a graph."""
    case = CASES[name]
    with tempfile.TemporaryDirectory() as model_dir, tf.Graph().as_default() as graph:
        estimator = made(api, case, model_dir)
        dataset = input_fn(case.data, case.label)()
        features, labels = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        tf.compat.v1.train.create_global_step()
        before = sizes(graph)
        estimator.model_fn(features, None if mode == "infer" else labels, mode, estimator.config)
        return added(before, sizes(graph))


def importances(estimator: Any, *, normalize: bool) -> Any:
    return outcome(
        lambda: list(estimator.experimental_feature_importances(normalize=normalize).items())
    )


def explanations(estimator: Any, once: Any) -> Any:
    def ask() -> Any:
        rows = estimator.experimental_predict_with_explanations(once, predict_keys=["logits"])
        return [
            [
                sorted(row),
                float(row["bias"]),
                [[name, float(value)] for name, value in row["dfc"].items()],
            ]
            for row, _ in zip(rows, range(5), strict=False)
        ]

    return outcome(ask)


def losses(api: Any, name: str, **more: Any) -> list[float]:
    """Returns the loss of each step of a model of fifty trees."""
    data, label, settings = LONG[name]
    with tempfile.TemporaryDirectory() as model_dir:
        case = Case(_C, data, label, settings)
        made(api, case, model_dir, n_trees=50, **more).train(input_fn(data, label))
        return [value for _, value in tags(model_dir)["loss"]]


def in_memory(api: Any, label: str, kind: str, model_dir: str) -> list[float]:
    """Returns the loss of each step of a model that is trained in memory."""
    made(api, Case(kind, "events", label), model_dir, train_in_memory=True).train(
        tensors("events", label)
    )
    return [value for _, value in tags(model_dir)["loss"]]


def signatures(api: Any) -> Any:
    """Returns the signatures of an exported model that parses examples."""
    import canned_figures

    case = CASES["people"]
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = made(api, case, model_dir)
        estimator.train(input_fn(case.data, case.label))
        exported = estimator.export_saved_model(
            f"{model_dir}/export", receiver(_Named(api), columns("people"))
        )
        return canned_figures.plain_signatures(exported)


class _Named(NamedTuple):
    estimator: Any


def tags(model_dir: str) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of each tag."""
    found: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(Path(model_dir).glob("events.*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if "/sec" not in value.tag:
                    found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def plain(value: np.ndarray) -> Any:
    if value.dtype == object:
        return [item.decode() for item in value.reshape(-1)]
    return value.tolist()


# Settings that look wrong; some are accepted.
BAD: dict[str, dict[str, Any]] = {
    "n_batches_per_layer": {"n_batches_per_layer": 0},
    "n_trees": {"n_trees": 0},
    "max_depth": {"max_depth": 0},
    "learning_rate": {"learning_rate": 0.0},
    "l1": {"l1_regularization": -1.0},
    "l2": {"l2_regularization": -1.0},
    "tree_complexity": {"tree_complexity": -1.0},
    "min_node_weight": {"min_node_weight": -1.0},
    "complexity without pruning": {"tree_complexity": 0.1},
    "pruning without complexity": {"pruning_mode": "pre"},
    "pruning_mode": {"pruning_mode": "x"},
    "center_bias of three classes": {"n_classes": 3, "center_bias": True},
    "batches in memory": {"n_batches_per_layer": 2, "train_in_memory": True},
}


def bad(api: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the outcome of wrong settings."""

    def ask() -> None:
        with tempfile.TemporaryDirectory() as model_dir:
            made(api, CASES["people"], model_dir, **settings).train(
                input_fn("people", "survived"), max_steps=1
            )

    return outcome(ask)
