"""Canned estimators of v1, as cases by name."""

from __future__ import annotations

import functools
import importlib

import canned_data
import tensorflow as tf
from canned_cases import both, cases
from canned_data import deep, shared, simple, wide

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


canned("linear classifier", "LinearClassifier", feature_columns=wide)
canned(
    "linear regressor",
    "LinearRegressor",
    label="pair",
    feature_columns=wide,
    label_dimension=2,
    weight_column="weight",
    sparse_combiner="mean",
    partitioner=halves(),
    optimizer_of=lambda api: tf1.train.GradientDescentOptimizer(0.001),
)
canned(
    "linear classifier of names",
    "LinearClassifier",
    label="name",
    feature_columns=wide,
    n_classes=3,
    label_vocabulary=list(canned_data.NAMES),
    loss_reduction="weighted_mean",
    optimizer="Adam",
)
canned(
    "linear estimator",
    "LinearEstimator",
    label="count",
    feature_columns=wide,
    sparse_combiner="sqrtn",
    head_of=regression_head,
    optimizer_of=lambda api: lambda: tf1.train.RMSPropOptimizer(0.01),
)
canned("dnn classifier", "DNNClassifier", columns=deep, feature_columns=deep, hidden_units=[8, 4])
canned(
    "dnn regressor",
    "DNNRegressor",
    label="number",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6],
    activation_fn=tf.nn.tanh,
    optimizer="Adam",
    weight_column="weight",
    input_layer_partitioner=halves(),
)
canned(
    "dnn with batch norm",
    "DNNClassifier",
    label="class",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6, 5],
    n_classes=3,
    batch_norm=True,
    loss_reduction="weighted_sum_over_batch_size",
    optimizer_of=lambda api: tf1.train.MomentumOptimizer(0.1, 0.5),
)
canned(
    "dnn with dropout",
    "DNNRegressor",
    label="pair",
    columns=simple,
    random=True,
    feature_columns=simple,
    hidden_units=[6],
    label_dimension=2,
    batch_norm=True,
    dropout=0.5,
    optimizer="RMSProp",
)
canned(
    "dnn estimator",
    "DNNEstimator",
    label="number",
    columns=simple,
    feature_columns=simple,
    hidden_units=[6],
    head_of=regression_head,
    optimizer="Ftrl",
)
canned(
    "dnn with shared embeddings",
    "DNNClassifier",
    columns=shared,
    feature_columns=shared,
    hidden_units=[4],
    optimizer="Adagrad",
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
canned(
    "combined classifier",
    "DNNLinearCombinedClassifier",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=deep,
    dnn_hidden_units=[8, 4],
)
canned(
    "combined regressor",
    "DNNLinearCombinedRegressor",
    label="pair",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=simple,
    dnn_hidden_units=[8],
    label_dimension=2,
    batch_norm=True,
    linear_sparse_combiner="mean",
    linear_optimizer="SGD",
    dnn_optimizer="Adam",
    input_layer_partitioner=halves(),
)
canned(
    "combined estimator",
    "DNNLinearCombinedEstimator",
    label="class",
    columns=both,
    linear_feature_columns=wide,
    dnn_feature_columns=simple,
    dnn_hidden_units=[8],
    head_of=lambda api: api.estimator.MultiClassHead(3, weight_column="weight"),
    linear_optimizer_of=lambda api: (
        lambda: tf1.train.FtrlOptimizer(
            0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2
        )
    ),
    dnn_optimizer_of=lambda api: tf1.train.AdamOptimizer(0.01),
)
canned("combined without dnn", "DNNLinearCombinedClassifier", linear_feature_columns=wide)
canned(
    "combined without linear",
    "DNNLinearCombinedRegressor",
    label="number",
    columns=simple,
    dnn_feature_columns=simple,
    dnn_hidden_units=[4],
)
canned("baseline classifier", "BaselineClassifier", tensors=True)
canned(
    "baseline classifier of names",
    "BaselineClassifier",
    tensors=True,
    label="name",
    n_classes=3,
    label_vocabulary=list(canned_data.NAMES),
    weight_column="weight",
    optimizer_of=lambda api: lambda: tf1.train.AdamOptimizer(0.1),
)
canned(
    "baseline regressor",
    "BaselineRegressor",
    tensors=True,
    label="pair",
    label_dimension=2,
    optimizer="SGD",
)
canned(
    "baseline estimator",
    "BaselineEstimator",
    tensors=True,
    label="number",
    head_of=lambda api: api.estimator.RegressionHead(name="height"),
    optimizer="Adagrad",
)
