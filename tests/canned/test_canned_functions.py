"""Functions for canned models: builders of logits, and parsing specs.

These tests cover `canned/specs.py`, `canned/column_kinds.py`, `canned/lookups.py` and
`canned/models.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est
from estimator_train.canned.columns import Batch
from estimator_train.compat import v1

fc = tf.feature_column
AGE = fc.numeric_column("age")
JOB = fc.categorical_column_with_identity("job", 5)
NAME = fc.categorical_column_with_hash_bucket("name", 5)
FEATURES = {"age": np.float32([[1], [2], [-3]]), "job": np.int64([[4], [0], [4]])}
linear_builder = v1.experimental.linear_logit_fn_builder
dnn_builder = v1.experimental.dnn_logit_fn_builder
call_logit_fn = est.experimental.call_logit_fn


def logits_and_variables(logit_fn: Callable[..., Any], **arguments: Any) -> tuple[Any, Any]:
    """Returns a function's result for the features, and its variables, with random values."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        logits = logit_fn({key: tf.constant(value) for key, value in FEATURES.items()}, **arguments)
        variables = {v.op.name: v for v in tf.compat.v1.global_variables()}
        random = np.random.RandomState(0)
        for variable in variables.values():
            value = random.uniform(0.1, 1.0, variable.shape).astype(np.float32)
            session.run(tf.compat.v1.assign(variable, value))
        return session.run((logits, variables))


def test_a_linear_function_adds_up_weights() -> None:
    logits, found = logits_and_variables(linear_builder(2, [AGE, JOB]))
    ages, jobs = found["linear_model/age/weights"], found["linear_model/job/weights"]
    expected = FEATURES["age"] @ ages + jobs[[4, 0, 4]] + found["linear_model/bias_weights"]
    np.testing.assert_allclose(logits, expected, rtol=1e-5)
    assert len(found) == 3


def test_a_network_of_layers_can_have_a_partitioned_embedding() -> None:
    columns = [AGE, fc.embedding_column(JOB, 2)]
    halves = tf.compat.v1.min_max_variable_partitioner(2, min_slice_size=1)
    logit_fn = dnn_builder(2, [3], columns, tf.nn.relu, None, halves, False)
    logits, found = logits_and_variables(logit_fn, mode="eval")
    home = "input_from_feature_columns/input_layer/job_embedding/embedding_weights/part_"
    parts = [found.pop(f"{home}{part}") for part in range(2)]
    assert [part.shape for part in parts] == [(3, 2), (2, 2)]
    table = np.concatenate(parts)
    inputs = np.concatenate([FEATURES["age"], table[[4, 0, 4]]], axis=1)
    hidden = inputs @ found["hiddenlayer_0/kernel"] + found["hiddenlayer_0/bias"]
    expected = np.maximum(hidden, 0) @ found["logits/kernel"] + found["logits/bias"]
    np.testing.assert_allclose(logits, expected, rtol=1e-5)
    assert len(found) == 4


def test_shared_embeddings_are_those_of_the_columns_themselves() -> None:
    weights = [[0.5, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, -3.0, 0.0]]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        features = {
            "first": tf.sparse.from_dense([[1, 2, -1], [0, 0, 0], [3, 3, 0]]),
            "second": tf.constant([[4], [-1], [4]]),
            "weight": tf.sparse.from_dense(weights),
        }
        identity = tf.feature_column.categorical_column_with_identity
        categories = [identity(name, 5, default_value=0) for name in ("first", "second")]
        categories[0] = tf.feature_column.weighted_categorical_column(categories[0], "weight")
        columns = tf.feature_column.shared_embeddings(categories, 3, combiner="sqrtn")
        found = Batch(features).dense(columns)
        expected = tf.concat([tf_keras.layers.DenseFeatures([c])(features) for c in columns], 1)
        assert [v.op.name for v in tf.compat.v1.trainable_variables()] == [
            "first_weighted_by_weight_second_shared_embedding"
        ]
        session.run(tf.compat.v1.global_variables_initializer())
        found, expected = session.run([found, expected])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.count_nonzero(found) == 12


@pytest.mark.parametrize("is_linear", [True, False])
def test_weights_of_missing_values_are_an_error(tmp_path: Path, is_linear: bool) -> None:
    # The weights of the values after a missing one would be those of their neighbours.
    words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
    column = tf.feature_column.weighted_categorical_column(words, "weight")
    embedding = tf.feature_column.embedding_column(column, 2)
    estimator = (
        est.LinearRegressor([column], tmp_path)
        if is_linear
        else est.DNNRegressor([2], [embedding], tmp_path)
    )

    def train(weights: list[list[float]]) -> None:
        rows = {"word": [["a", ""], ["b", "a"]], "weight": weights}
        estimator.train(lambda: tf.data.Dataset.from_tensors((rows, [1.0, 2.0])), steps=1)

    train([[1.0, 0.0], [2.0, 3.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Column word_weighted_by_weight must"):
        train([[1.0, 5.0], [2.0, 3.0]])


def test_updates_of_batch_norm_are_collected() -> None:
    with tf.Graph().as_default():
        logit_fn = dnn_builder(1, [3, 2], [AGE], tf.nn.relu, 0.5, None, True)
        logit_fn({"age": tf.constant(FEATURES["age"])}, mode="train")
        assert len(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)) == 4


def test_units_must_be_a_number() -> None:
    with pytest.raises(ValueError, match=re.escape("units must be an int.  Given type: <class 's")):
        dnn_builder("3", [2], [AGE], *[None] * 4)
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        linear_builder("3", [AGE])


def test_a_logit_fn_gets_the_arguments_that_it_names() -> None:
    def logit_fn(features: Any, params: Any) -> tf.Tensor:
        return tf.constant(features) * params["by"]

    assert float(call_logit_fn(logit_fn, 3.0, "train", {"by": 2.0}, None)) == 6.0
    two = {"a": tf.constant(1.0), "b": tf.constant(2.0)}
    assert call_logit_fn(lambda features: two, None, "train", {}, None) is two


@pytest.mark.parametrize("wrong", [3, {"a": 3}, {3: 1.0}])
def test_a_logit_fn_must_return_tensors(wrong: Any) -> None:
    text = f"dictionary mapping strings to Tensors.  logit_fn returned: {wrong}"
    with pytest.raises(ValueError, match=re.escape(text)):
        call_logit_fn(lambda features: wrong, {}, "train", {}, None)


def spec_of(*label: Any, weight: Any = None) -> dict[str, Any]:
    one = tf.io.FixedLenFeature((1,), tf.float32)
    found = {"age": one, "name": tf.io.VarLenFeature(tf.string)}
    found["y"] = tf.io.FixedLenFeature(*label)
    return {**found, "w": tf.io.FixedLenFeature((1,), weight)} if weight else found


COLUMNS = [AGE, NAME]
for_classes, for_numbers = est.classifier_parse_example_spec, est.regressor_parse_example_spec


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: for_classes(COLUMNS, "y"), spec_of((1,), tf.int64)),
        (
            lambda: for_classes(COLUMNS, "y", tf.string, "none", "w"),
            spec_of((1,), tf.string, "none", weight=tf.float32),
        ),
        (
            lambda: for_classes(
                COLUMNS, "y", weight_column=fc.numeric_column("w", dtype=tf.float64)
            ),
            spec_of((1,), tf.int64, weight=tf.float64),
        ),
        (lambda: for_numbers(COLUMNS, "y"), spec_of((1,), tf.float32)),
        (
            lambda: for_numbers(COLUMNS, "y", label_default=[0.0, 1.0], label_dimension=2),
            spec_of((2,), tf.float32, [0.0, 1.0]),
        ),
        (
            lambda: v1.regressor_parse_example_spec(COLUMNS, "y", tf.float64),
            spec_of((1,), tf.float64),
        ),
    ],
)
def test_parsing_specs_equal_the_recorded_ones(
    found: Callable[[], Any], expected: dict[str, Any]
) -> None:
    assert found() == expected


@pytest.mark.parametrize("make", [for_classes, for_numbers])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            (COLUMNS, "age"),
            "label should not be used as feature. label_key: age, features: dict_keys(",
        ),
        (
            (COLUMNS, "y", tf.float32, None, "age"),
            "weight_column should not be used as feature. weight_column: age, features: "
            "dict_keys(['age', 'name', 'y'])",
        ),
        (
            (COLUMNS, "y", tf.float32, None, NAME),
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: ",
        ),
        ((["age"], "y"), "All feature_columns must be FeatureColumn instances. Given: age"),
    ],
)
def test_the_names_of_features_label_and_weight_must_differ(
    make: Any, arguments: tuple[Any, ...], text: str
) -> None:
    names = ("feature_columns", "label_key", "label_dtype", "label_default", "weight_column")
    with pytest.raises(ValueError, match=re.escape(text)):
        make(**dict(zip(names, arguments, strict=False)))


STILL = {est: tf_keras.optimizers.SGD, v1: tf.compat.v1.train.GradientDescentOptimizer}


@pytest.mark.parametrize("api", [est, v1], ids=["v2", "v1"])
def test_a_new_model_starts_from_the_values_of_another_and_ignores_unnamed_features(
    api: Any,
) -> None:
    def batches() -> Any:
        return tf.data.Dataset.from_tensors(({**FEATURES, "no column's": [1, 2, 3]}, [0, 1, 1]))

    def regressor(**arguments: Any) -> Any:
        return api.DNNRegressor([3], [AGE, fc.embedding_column(JOB, 2)], **arguments)

    donor = regressor(config=est.RunConfig(tf_random_seed=1)).train(batches, steps=1)
    started = regressor(
        config=est.RunConfig(tf_random_seed=2),
        warm_start_from=donor.model_dir,
        optimizer=STILL[api](0.0),  # It changes no value.
    ).train(batches, steps=1)
    kept = [
        name for name in donor.get_variable_names() if re.search("(kernel|bias|weights)$", name)
    ]
    assert len(kept) == 5
    for name in kept:
        np.testing.assert_array_equal(
            started.get_variable_value(name), donor.get_variable_value(name), err_msg=name
        )
    assert started.get_variable_value("global_step") == 1
