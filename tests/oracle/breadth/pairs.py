"""All pairs of what the verbs meet: optimizer, head, column, family of models and API.

Every case trains, evaluates, predicts and exports.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf
from breadth.pairing import pairings
from breadth.subjects_canned import trained
from jobs import Api

tf1 = tf.compat.v1
fc = tf.feature_column
CHOICES: dict[str, tuple[str, ...]] = {
    "flavour": ("v2", "v1"),
    "family": ("Linear", "DNN", "DNNLinearCombined"),
    "optimizer": ("name", "legacy", "v1", "function", "new"),
    "head": ("binary", "classes", "labels", "regression", "poisson", "logistic", "names"),
    "column": ("numeric", "bucketized", "indicator", "embedding", "crossed", "weighted"),
}


class Pairing(NamedTuple):
    """One choice of each."""

    flavour: str
    family: str
    optimizer: str
    head: str
    column: str

    @property
    def name(self) -> str:
        return "pairs " + " ".join(self)

    def ask(self, api: Api, directory: str) -> Any:
        """Returns the outcome of the estimator."""
        return _asked(self, api, directory)


def questions() -> dict[str, Pairing]:
    made = (Pairing(**choice) for choice in pairings(CHOICES))
    return {pairing.name: pairing for pairing in made}


def _asked(choice: Pairing, api: Api, directory: str) -> Any:
    """Returns the outcome of the estimator of a pairing."""
    estimator, label = _estimator(choice, api, directory)
    found = trained(estimator, label)
    columns = [*_columns(choice), fc.numeric_column("x", shape=2)]
    spec = fc.make_parse_example_spec(columns)
    receiver = api.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(f"{directory}/export", receiver)
    with tf.Graph().as_default(), tf1.Session() as session:
        loaded = tf1.saved_model.load(session, ["serve"], path.decode())
        found["signatures"] = {
            name: [sorted(signature.inputs), sorted(signature.outputs)]
            for name, signature in sorted(loaded.signature_def.items())
        }
    return found


def _estimator(choice: Pairing, api: Api, directory: str) -> tuple[Any, str]:
    head, label = _head(choice.head, api)
    columns = _columns(choice)
    optimizer = _optimizer(choice.optimizer, api)
    config = api.estimator.RunConfig(save_summary_steps=1, tf_random_seed=1)
    arguments = {
        "Linear": {"feature_columns": columns, "optimizer": optimizer},
        "DNN": {"feature_columns": columns, "hidden_units": [3], "optimizer": optimizer},
        "DNNLinearCombined": {
            "linear_feature_columns": columns,
            "linear_optimizer": optimizer,
            "dnn_feature_columns": [fc.numeric_column("x", shape=2)],
            "dnn_hidden_units": [2],
            "dnn_optimizer": _optimizer(choice.optimizer, api),
        },
    }[choice.family]
    make = getattr(api.estimator, f"{choice.family}Estimator")
    return make(head=head, model_dir=f"{directory}/model", config=config, **arguments), label


def _optimizer(kind: str, api: Api) -> Any:
    optimizers = api.keras.optimizers
    return {
        "name": "Adam",
        "legacy": optimizers.legacy.Adagrad(0.1),
        "v1": tf1.train.FtrlOptimizer(0.1),
        "function": lambda: (
            tf1.train.GradientDescentOptimizer(0.1)
            if api.name == "v1"
            else optimizers.legacy.SGD(tf1.train.exponential_decay(0.1, _step(), 1, 0.5))
        ),
        "new": optimizers.Adam(0.1),
    }[kind]


def _step() -> Any:
    return tf1.train.get_or_create_global_step()


def _head(kind: str, api: Api) -> tuple[Any, str]:
    heads = api.estimator
    return {
        "binary": lambda: (heads.BinaryClassHead("weight"), "class"),
        "classes": lambda: (heads.MultiClassHead(3), "class"),
        "labels": lambda: (heads.MultiLabelHead(3), "several"),
        "regression": lambda: (heads.RegressionHead(2), "pair"),
        "poisson": lambda: (heads.PoissonRegressionHead(3), "several"),
        "logistic": lambda: (heads.LogisticRegressionHead(), "class"),
        "names": lambda: (heads.BinaryClassHead(label_vocabulary=["lo", "hi"]), "name"),
    }[kind]()


def _columns(choice: Pairing) -> list[Any]:
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)
    ages = fc.bucketized_column(fc.numeric_column("age"), [25.0, 45.0])
    found = {
        "numeric": lambda: fc.numeric_column("x", shape=2),
        "bucketized": lambda: ages,
        "indicator": lambda: fc.indicator_column(word),
        "embedding": lambda: fc.embedding_column(word, 2),
        "crossed": lambda: fc.crossed_column(["word", ages], 5),
        "weighted": lambda: fc.weighted_categorical_column(word, "weight"),
    }[choice.column]()
    sparse = choice.column in ("crossed", "weighted")
    return [fc.indicator_column(found) if sparse and choice.family == "DNN" else found]
