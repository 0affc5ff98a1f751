"""Bad input of canned estimators: the original's errors, and clear ones where it had none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.compat import v1

fc = tf.feature_column
AGE = fc.numeric_column("age")
JOB = fc.categorical_column_with_hash_bucket("job", 5)
V1_ADAM = tf.compat.v1.train.AdamOptimizer


def rows(labels: Any = (0, 1, 0, 1), **changes: Any) -> Callable[[], Any]:
    features = {"age": np.ones(4, np.float32), "job": np.array(list("abcd")), "unused": [1] * 4}
    found = {key: value for key, value in {**features, **changes}.items() if value is not None}
    return lambda: tf.data.Dataset.from_tensor_slices((found, list(labels))).batch(4)


AT_CONSTRUCTION = {
    "no columns": (lambda api: api.LinearClassifier([]), "feature_columns must not be empty."),
    "no columns of a network": (
        lambda api: api.DNNClassifier([2], None),
        "feature_columns must not be empty.",
    ),
    "a name in place of a column": (
        lambda api: api.LinearClassifier(["age"]),
        "Items of feature_columns must be a _FeatureColumn. Given (type <class 'str'>): age.",
    ),
    "one name twice": (
        lambda api: api.LinearRegressor([AGE, fc.numeric_column("age")]),
        "Duplicate feature column name found for columns: NumericColumn(key='age'",
    ),
    "no columns at all": (
        lambda api: api.DNNLinearCombinedClassifier(),
        "Either linear_feature_columns or dnn_feature_columns must be defined.",
    ),
    "no hidden layers": (
        lambda api: api.DNNLinearCombinedRegressor(dnn_feature_columns=[AGE]),
        "dnn_hidden_units must be defined",
    ),
    "a layer of no size": (
        lambda api: api.DNNRegressor([0], [AGE]),
        "hidden_units must be positive. Given: [0]",
    ),
    "dropout of all": (
        lambda api: api.DNNRegressor([2], [AGE], dropout=1.5),
        "Invalid value 1.5 received for `rate`, expected a value between 0 and 1.",
    ),
    "a combiner": (
        lambda api: api.LinearRegressor([JOB], sparse_combiner="max"),
        "sparse_combiner must be one of ('mean', 'sqrtn', 'sum'). Given: 'max'",
    ),
    "an optimizer's name": (
        lambda api: api.LinearRegressor([JOB], optimizer="foo"),
        "Unsupported optimizer name: foo. Supported names are: ('Adagrad', 'Adam', 'Ftrl', "
        "'RMSProp', 'SGD')",
    ),
    "one class": (
        lambda api: api.LinearClassifier([AGE], n_classes=1),
        "n_classes must be > 2: 1.",
    ),
    "no label": (
        lambda api: api.DNNRegressor([2], [AGE], label_dimension=0),
        "Invalid label_dimension 0.",
    ),
}  # fmt: skip
IN_TRAINING = {
    "a missing feature": (
        lambda api: api.LinearClassifier([AGE]),
        rows(age=None),
        ValueError,
        "Feature age is not in features dictionary.",
    ),
    "a missing feature of a network": (
        lambda api: api.DNNClassifier([2], [fc.embedding_column(JOB, 2)]),
        rows(job=None),
        ValueError,
        "Feature job is not in features dictionary.",
    ),
    "a categorical column in a network": (
        lambda api: api.DNNClassifier([2], [JOB]),
        rows(),
        ValueError,
        "You can wrap a categorical column with an embedding_column or indicator_column. Given: "
        "HashedCategoricalColumn(key='job'",
    ),
    "features that are no dict": (
        lambda api: api.LinearClassifier([AGE]),
        lambda: tf.data.Dataset.from_tensors((np.ones([4, 1]), np.ones(4))),
        ValueError,
        "features should be a dictionary of `Tensor`s. Given type: ",
    ),
    "a label that is no class": (
        lambda api: api.LinearClassifier([AGE]),
        rows([0, 1, 5, 1]),
        tf.errors.InvalidArgumentError,
        "<= n_classes - 1",
    ),
    "names without a vocabulary": (
        lambda api: api.LinearClassifier([AGE]),
        rows(list("abab")),
        ValueError,
        "Labels dtype should be integer. Instead got <dtype: 'string'>.",
    ),
    "labels of another shape": (
        lambda api: api.LinearClassifier([AGE]),
        rows([[0, 1]] * 4),
        ValueError,
        "Mismatched label shape. Expected labels dimension=1.  Received 2.",
    ),
    "negative weights": (
        lambda api: api.DNNRegressor([2], [AGE], weight_column="weight"),
        rows(weight=np.float32([1, 1, -1, 1])),
        tf.errors.InvalidArgumentError,
        "weights must not be negative, see the weight column weight",
    ),
}
APIS = {"v2": est, "v1": v1}


@pytest.mark.parametrize("name", AT_CONSTRUCTION)
@pytest.mark.parametrize("api", APIS)
def test_what_is_wrong_from_the_start_is_told_at_once(api: str, name: str) -> None:
    make, text = AT_CONSTRUCTION[name]
    with pytest.raises(ValueError, match=re.escape(text)):
        make(APIS[api])


@pytest.mark.parametrize("name", IN_TRAINING)
@pytest.mark.parametrize("api", APIS)
def test_what_does_not_go_with_the_data_is_told_in_training(api: str, name: str) -> None:
    make, input_fn, kind, text = IN_TRAINING[name]
    with pytest.raises(kind, match=re.escape(text)):
        make(APIS[api]).train(input_fn, steps=1)


def test_optimizers_are_of_the_generation_of_the_estimator() -> None:
    text = "The given object is not a tf.keras.optimizers.Optimizer instance. Given: "
    with pytest.raises(ValueError, match=re.escape(text)):
        est.LinearClassifier([AGE], optimizer=V1_ADAM())
    text = "The given object is not an Optimizer instance. Given: "
    with pytest.raises(ValueError, match=re.escape(text)):
        v1.LinearClassifier([AGE], optimizer=lambda: tf_keras.optimizers.SGD()).train(rows())


def test_columns_of_v1_are_for_estimators_of_v1() -> None:
    with tf.Graph().as_default():
        old = tf.compat.v1.feature_column.shared_embedding_columns([JOB], 2)
    with pytest.raises(ValueError, match="Received a feature column from TensorFlow v1, but this"):
        est.DNNClassifier([2], old)


def test_a_baseline_needs_a_feature() -> None:
    estimator = est.BaselineClassifier()
    with pytest.raises(ValueError, match="A baseline needs at least one feature"):
        estimator.train(lambda: ({}, tf.constant([0, 1])), steps=1)
