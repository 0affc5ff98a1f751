"""Questions about canned estimators and heads: each argument, trained, evaluated and asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.subjects import With, subject
from canned_figures import FixedValues, fixed
from jobs import Api, values

tf1 = tf.compat.v1
fc = tf.feature_column
WORDS = ["a", "b", "a", "c"]


def batch(label: str = "class") -> Any:
    """Four rows, as tensors, with one of their labels."""
    features = {
        "x": tf.constant(values(4, 2, seed=1)),
        "word": tf.constant(WORDS),
        "weight": tf.constant([1.0, 2.0, 0.5, 1.5]),
        "age": tf.constant([20.0, 30.0, 40.0, 50.0]),
    }
    labels = {
        "class": [0, 1, 1, 0],
        "name": ["lo", "hi", "hi", "lo"],
        "number": [0.5, -1.0, 2.0, 0.0],
        "pair": [[0.5, 1.0], [-1.0, 0.0], [2.0, 1.0], [0.0, 1.0]],
        "several": [[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]],
    }
    return features, tf.constant(labels[label])


def columns() -> list[Any]:
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)
    return [fc.numeric_column("x", shape=2), fc.indicator_column(word)]


def trained(estimator: Any, label: str) -> Any:
    """Trains two steps, evaluates and predicts; returns values, names of variables and tags."""

    def input_fn() -> Any:
        return batch(label)

    estimator.train(input_fn, hooks=[FixedValues()], steps=2)
    result = estimator.evaluate(input_fn, steps=1)
    row = next(iter(estimator.predict(input_fn)))
    reader = tf.train.load_checkpoint(estimator.latest_checkpoint())
    return {
        "variables": {k: list(v) for k, v in sorted(reader.get_variable_to_shape_map().items())},
        "evaluation": {key: float(value) for key, value in sorted(result.items())},
        "prediction": {key: value for key, value in sorted(row.items()) if key != "all_classes"},
        "tags": tags(estimator.model_dir),
    }


def tags(model_dir: str) -> dict[str, list[str]]:
    """Returns the tags of summaries in each directory of events."""
    found: dict[str, set[str]] = {}
    for path in sorted(Path(model_dir).rglob("events.*")):
        seen = found.setdefault(str(path.parent.relative_to(model_dir)), set())
        for event in tf1.train.summary_iterator(str(path)):
            seen.update(value.tag for value in event.summary.value if "/sec" not in value.tag)
    return {name: sorted(seen) for name, seen in sorted(found.items())}


def _arguments(kind: str, api: Api, directory: str) -> dict[str, Any]:
    """Usual values of a canned estimator's arguments, in their order."""
    of_model = {
        "model_dir": f"{directory}/model",
        **_of_head(kind),
        "optimizer": api.keras.optimizers.legacy.SGD(0.1),
        "config": api.estimator.RunConfig(save_summary_steps=1, tf_random_seed=1),
    }
    if kind.endswith("Estimator"):
        return {"head": api.estimator.RegressionHead(weight_column="weight"), **of_model}
    if kind.startswith("Baseline"):
        return {**of_model, "loss_reduction": "sum"}
    more = {"warm_start_from": None, "loss_reduction": "sum", "sparse_combiner": "mean"}
    return {"feature_columns": columns(), **of_model, **more}


def _of_head(kind: str) -> dict[str, Any]:
    if kind.endswith("Classifier"):
        names = With(["lo", "hi"], {"label": "name"})
        return {"n_classes": 3, "weight_column": "weight", "label_vocabulary": names}
    if kind.endswith("Regressor"):
        return {"label_dimension": With(2, {"label": "pair"}), "weight_column": "weight"}
    return {}


class Made:
    """Makes an estimator or a head, and keeps with it which label it is for."""

    def __init__(self, name: str, default: str, api: Api) -> None:
        self.name, self.default, self.api = name, default, api

    def __call__(self, *args: Any, label: str | None = None, **kwargs: Any) -> tuple[Any, str]:
        return getattr(self.api.estimator, self.name)(*args, **kwargs), label or self.default


for _name, _default, _first in (
    ("BaselineClassifier", "class", ()),
    ("BaselineRegressor", "number", ()),
    ("BaselineEstimator", "number", ("head",)),
    ("LinearClassifier", "class", ("feature_columns",)),
):
    subject(
        _name,
        lambda api, directory, n=_name: _arguments(n, api, directory),
        lambda made, api, directory: trained(*made),
        call=lambda api, _, n=_name, d=_default: Made(n, d, api),
        required=(*_first, "model_dir", "config"),
        forms=1,
    )


def _loss(labels: Any, logits: Any) -> Any:
    return tf.reduce_sum(tf.square(tf.cast(labels, tf.float32) - logits), axis=-1, keepdims=True)


_COMMON = {"weight_column": "weight", "loss_reduction": "sum"}
_LOSS_FN = {"loss_fn": lambda labels, logits: _loss(labels, logits)}
_HEADS: dict[str, tuple[str, int, tuple[str, ...], dict[str, Any]]] = {
    "BinaryClassHead": (
        "class",
        1,
        (),
        {
            "weight_column": "weight",
            "thresholds": [0.3, 0.6],
            "label_vocabulary": With(["lo", "hi"], {"label": "name"}),
            "loss_reduction": "sum",
            **_LOSS_FN,
            "name": "mine",
        },
    ),
    "MultiClassHead": (
        "class",
        3,
        ("n_classes",),
        {
            "n_classes": 3,
            "weight_column": "weight",
            "label_vocabulary": With(["lo", "hi", "other"], {"label": "name"}),
            "loss_reduction": "sum",
            **_LOSS_FN,
            "name": "mine",
        },
    ),
    "MultiLabelHead": (
        "several",
        3,
        ("n_classes",),
        {
            "n_classes": 3,
            "weight_column": "weight",
            "thresholds": [0.3, 0.6],
            "label_vocabulary": With(["a", "b", "c"], {"label": "several"}),
            "loss_reduction": "sum",
            **_LOSS_FN,
            "classes_for_class_based_metrics": [0, 2],
            "name": "mine",
        },
    ),
    "RegressionHead": (
        "pair",
        2,
        ("label_dimension",),
        {
            "label_dimension": 2,
            **_COMMON,
            "loss_fn": lambda labels, logits: tf.square(labels - logits),
            "inverse_link_fn": lambda logits: tf.exp(logits),
            "name": "mine",
        },
    ),
    "PoissonRegressionHead": (
        "several",
        3,
        ("label_dimension",),
        {"label_dimension": 3, **_COMMON, "compute_full_loss": False, "name": "mine"},
    ),
    "LogisticRegressionHead": ("class", 1, (), {**_COMMON, "name": "mine"}),
}


def specs_of(head: Any, label: str, size: int) -> Any:
    """Returns the loss, the metrics and the predictions of a head."""
    with tf.Graph().as_default():
        features, labels = batch(label)
        logits = tf.constant(fixed("logits", (4, size)))
        spec = head.create_estimator_spec(
            features, "eval", logits, labels=labels, trainable_variables=[]
        )
        predicted = head.create_estimator_spec(features, "infer", logits)
        with tf1.Session() as session:
            session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
            session.run(tf1.tables_initializer())
            session.run(
                [op for metric in spec.eval_metric_ops.values() for op in [update_of(metric)]]
            )
            return {
                "loss": session.run(spec.loss),
                "metrics": session.run({k: value_of(m) for k, m in spec.eval_metric_ops.items()}),
                "predictions": {
                    key: session.run(value[0])
                    for key, value in predicted.predictions.items()
                    if key != "all_classes"
                },
                "outputs": sorted(predicted.export_outputs),
            }


def update_of(metric: Any) -> Any:
    """Returns the update of a metric of a head, in whichever form it has."""
    return metric[1] if isinstance(metric, tuple) else metric.updates[0]


def value_of(metric: Any) -> Any:
    """Returns the value of a metric of a head, in whichever form it has."""
    return metric[0] if isinstance(metric, tuple) else metric.result()


for _name, (_default, _size, _first, _values) in _HEADS.items():
    subject(
        _name,
        lambda api, directory, v=_values: dict(v),
        lambda made, api, directory, size=_size: specs_of(*made, size),
        call=lambda api, _, n=_name, d=_default: Made(n, d, api),
        required=_first,
    )
subject(
    "MultiHead",
    lambda api, _: {
        "heads": [
            api.estimator.RegressionHead(2, name="one"),
            api.estimator.BinaryClassHead(name="other"),
        ],
        "head_weights": [0.5, 2.0],
    },
    lambda head, api, _: _multi(head),
    required=("heads",),
)


def _multi(head: Any) -> Any:
    with tf.Graph().as_default():
        labels = {"one": batch("pair")[1], "other": batch("class")[1]}
        logits = tf.constant(fixed("logits", (4, 3)))
        spec = head.create_estimator_spec({}, "eval", logits, labels=labels, trainable_variables=[])
        with tf1.Session() as session:
            return [session.run(spec.loss), sorted(spec.eval_metric_ops), np.shape(spec.loss)]
