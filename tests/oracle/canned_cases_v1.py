"""Canned estimators of v1, as cases by name."""

from __future__ import annotations

import functools
import importlib

import tensorflow as tf
from canned_cases import add_shared, cases
from canned_data import shared

tf1 = tf.compat.v1
CASES, canned = cases()


def halves(**settings: float) -> object:
    return tf1.fixed_size_partitioner(2, **settings)


def old_shared() -> list[object]:
    """Columns of tf.compat.v1.feature_column that share an embedding, and a number."""
    fc = tf.feature_column
    columns = [fc.categorical_column_with_hash_bucket(key, 9) for key in ("job", "work")]
    with tf.Graph().as_default():
        embedded = tf1.feature_column.shared_embedding_columns(columns, 3)
    return [*embedded, fc.numeric_column("scores", shape=[3])]


@functools.cache
def old_mixed() -> list[object]:
    """Old columns and a categorical one, the same for both parts of a model."""
    words = tf.feature_column.categorical_column_with_hash_bucket("work", 7)
    return [*old_shared(), words]


def old_dense() -> list[object]:
    """Returns the dense features."""
    return old_mixed()[:-1]


def regression_head(api: object) -> object:
    """Returns the head of v1 regressors, which neither of the two publishes."""
    del api
    try:
        home = importlib.import_module("tensorflow_estimator.python.estimator.canned.head")
        return home._regression_head(weight_column="weight")
    except ImportError:
        home = importlib.import_module("estimator_train.heads.v1")
        return home.V1RegressionHead(weight_column="weight")


add_shared(
    canned,
    {
        "linear regressor": {
            "partitioner": halves(),
            "optimizer_of": lambda api: tf1.train.GradientDescentOptimizer(0.001),
        },
        "linear classifier of names": {"loss_reduction": "weighted_mean"},
        "linear estimator": {
            "head_of": regression_head,
            "optimizer_of": lambda api: lambda: tf1.train.RMSPropOptimizer(0.01),
        },
        "dnn regressor": {"input_layer_partitioner": halves()},
        "dnn with batch norm": {
            "loss_reduction": "weighted_sum_over_batch_size",
            "optimizer_of": lambda api: tf1.train.MomentumOptimizer(0.1, 0.5),
        },
        "dnn estimator": {"label": "number", "head_of": regression_head},
        "combined regressor": {"input_layer_partitioner": halves()},
        "combined estimator": {
            "linear_optimizer_of": lambda api: (
                lambda: tf1.train.FtrlOptimizer(
                    0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2
                )
            ),
            "dnn_optimizer_of": lambda api: tf1.train.AdamOptimizer(0.01),
        },
        "baseline classifier of names": {
            "optimizer_of": lambda api: lambda: tf1.train.AdamOptimizer(0.1)
        },
    },
)
canned(
    "dnn with old shared embeddings",
    "DNNClassifier",
    columns=shared,
    feature_columns=old_shared,
    hidden_units=[4],
    optimizer="Adagrad",
)
canned("linear with old columns", "LinearClassifier", columns=shared, feature_columns=old_mixed)
canned(
    "linear with parts of old columns",
    "LinearRegressor",
    label="pair",
    columns=shared,
    feature_columns=old_mixed,
    label_dimension=2,
    sparse_combiner="mean",
    partitioner=halves(),
    optimizer="Adagrad",
)
canned(
    "combined with old columns",
    "DNNLinearCombinedClassifier",
    columns=shared,
    linear_feature_columns=old_mixed,
    dnn_feature_columns=old_dense,
    dnn_hidden_units=[4],
)
