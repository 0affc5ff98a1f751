"""Graphs for other runtimes: ids as inputs, the answers of the model, refusals.

These tests cover `engine/portability.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import portable_models
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.compat import v1 as compat_v1
from estimator_train.export.portable import encoder
from estimator_train.export.portable.portable_graph import (
    PortableGraph,
    build_portable_graph,
    compute_expected,
)
from estimator_train.export.portable.rows import UnsupportedModelError, read_rows

fc = tf.feature_column
INPUT_FN = portable_models.make_input_fn(60, 25)


def build(
    estimator: Any,
    input_fn: Any = INPUT_FN,
    signature: str | None = None,
    outputs: list[str] | None = None,
) -> tuple[PortableGraph, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Returns a graph, the outputs that TensorFlow computes with it, and those to expect."""
    job = estimator._make_job(None)
    rows = read_rows(job, input_fn, 60)
    model = (job, rows, estimator.latest_checkpoint(), signature, outputs)
    graph = build_portable_graph(*model)
    inputs = encoder.Encoder(graph.description).encode(rows.get_plain_values())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(graph.graph_def, name="")
        feeds = {graph.inputs[name]: value for name, value in inputs.items()}
        assert feeds.keys() == set(graph.inputs.values())
        answers = session.run(graph.outputs, feeds)
    return graph, answers, compute_expected(*model)


def assert_close(answers: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert answers.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(answers[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.long
def test_census_takes_ids_and_gives_the_answers_of_predict(tmp_path: Path) -> None:
    estimator = portable_models.make_census(tmp_path)
    graph, answers, wanted = build(estimator)
    assert_close(answers, wanted)
    predicted = list(estimator.predict(INPUT_FN))
    for name in ("probabilities", "class_ids", "logits"):
        np.testing.assert_allclose(answers[name], [p[name] for p in predicted], atol=1e-5)
    assert set(graph.inputs) == {
        "age",
        "hours",
        "country",
        "job",
        "likes",
        "likes_weighted_by_scores",
        "likes_weighted_by_scores_weights",
        "school",
        "school_ids",
        "zip",
        "job_X_school",
        "age_bucketized_X_country_X_school",
    }
    operations = {node.op for node in graph.graph_def.node}
    assert not {op for op in operations if "Sparse" in op or "Table" in op or "String" in op}


def test_partitioned_variables_are_joined(tmp_path: Path) -> None:
    column = fc.categorical_column_with_hash_bucket("job", 30)
    estimator = compat_v1.LinearClassifier(
        [column], str(tmp_path), partitioner=tf.compat.v1.fixed_size_partitioner(3)
    )
    _, answers, wanted = build(portable_models.train(estimator))
    assert np.ptp(wanted["logits"]) > 0
    assert_close(answers, wanted)


def make_model_fn(predict: Any) -> Any:
    """Returns a model_fn with predictions from a function of the features."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        predictions = predict(features)
        step = tf.compat.v1.train.get_global_step()
        w = tf.compat.v1.get_variable("w", [])
        return est.EstimatorSpec(
            mode, {"y": predictions}, w, tf.compat.v1.assign_add(step, 1),
        )  # fmt: skip

    return model_fn


def test_model_fn_with_columns_of_tensorflow(tmp_path: Path) -> None:
    job = fc.categorical_column_with_hash_bucket("job", 30)
    columns = [fc.embedding_column(job, 4), fc.indicator_column(job), fc.numeric_column("age")]
    estimator = est.Estimator(
        make_model_fn(lambda features: tf.compat.v1.feature_column.input_layer(features, columns)),
        str(tmp_path),
    )
    graph, answers, wanted = build(portable_models.train(estimator))
    assert set(graph.inputs) == {"job", "age"}
    assert_close(answers, wanted)


def change_feature(features: Any) -> Any:
    """Changes a feature of a column; the rows of INPUT_FN have no such id."""
    features["zip"] = tf.minimum(features["zip"], tf.constant(1000, tf.int64))
    place = fc.indicator_column(fc.categorical_column_with_identity("zip", 60, default_value=0))
    return tf.compat.v1.feature_column.input_layer(features, [place])


def change_feature_of_cross(features: Any) -> Any:
    features = features.copy()
    features["age"] = tf.minimum(features["age"], 1000.0)
    age = fc.bucketized_column(fc.numeric_column("age"), [20.0])
    cross = fc.indicator_column(fc.crossed_column([age, "job"], 10))
    return tf.compat.v1.feature_column.input_layer(features, [cross])


@pytest.mark.parametrize(
    ("predict", "name"),
    [(change_feature, "zip"), (change_feature_of_cross, "age")],
)
def test_a_feature_that_model_fn_changes_has_no_ids(
    tmp_path: Path, predict: Any, name: str
) -> None:
    estimator = portable_models.train(est.Estimator(make_model_fn(predict), str(tmp_path)), 1)
    with pytest.raises(ValueError, match=f"'{name}' as the input_fn gives it: model_fn changes"):
        build(estimator)


def test_model_fn_changes_numbers_and_shapes(tmp_path: Path) -> None:
    job = fc.categorical_column_with_hash_bucket("job", 30)
    age = fc.bucketized_column(fc.numeric_column("age"), [0.2, 0.5])
    columns = [fc.indicator_column(job), age]

    def predict(features: Any) -> Any:
        features["job"] = tf.expand_dims(features["job"], 1)
        features["age"] = tf.minimum(features["age"], 50.0) / 100.0
        return tf.compat.v1.feature_column.input_layer(features, columns)

    estimator = est.Estimator(make_model_fn(predict), str(tmp_path))
    graph, answers, wanted = build(portable_models.train(estimator, 1))
    assert set(graph.inputs) == {"job", "age"}
    assert_close(answers, wanted)


def test_linear_model_of_tensorflow_reads_buckets(tmp_path: Path) -> None:
    age = fc.bucketized_column(fc.numeric_column("age"), [20.0, 50.0])
    estimator = est.Estimator(
        make_model_fn(lambda features: tf.compat.v1.feature_column.linear_model(features, [age])),
        str(tmp_path),
    )
    graph, answers, wanted = build(portable_models.train(estimator, 1))
    assert set(graph.inputs) == {"age"}
    assert_close(answers, wanted)


def test_single_tensor(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(np.arange(9.0)[:, None]).batch(4)

    estimator = est.Estimator(make_model_fn(lambda x: x * 2.0), str(tmp_path))
    estimator.train(input_fn, steps=1)
    graph, answers, wanted = build(estimator, input_fn)
    assert graph.inputs == {"input": "input:0"}
    assert answers["y"].tolist() == wanted["y"].tolist() == (np.arange(9.0)[:, None] * 2).tolist()


def make_named_input_fn(names: list[str]) -> Any:
    rows = {name: np.arange(6, dtype=np.float32) + place for place, name in enumerate(names)}
    return lambda: tf.data.Dataset.from_tensor_slices((rows, np.arange(6) % 2)).batch(3)


def test_features_whose_names_differ_in_other_signs_alone(tmp_path: Path) -> None:
    names = ["a b", "a_b", "a:b", "\u00e9", "\u00fc", "Age", "age"]
    input_fn = make_named_input_fn(names)
    columns = [fc.numeric_column(name) for name in names]
    # A seed, and enough units: the relu of all of a few random ones may be 0 for each row.
    config = est.RunConfig(str(tmp_path), tf_random_seed=1)
    estimator = est.DNNRegressor([16], columns, config=config).train(input_fn)
    graph, answers, wanted = build(estimator, input_fn)
    assert set(graph.inputs) == {
        "a_b",
        "a_b_input",
        "a_b_input_1",
        "input_",
        "input__input",
        "Age",
        "age",
    }
    assert np.ptp(wanted["predictions"]) > 0
    assert_close(answers, wanted)


def test_no_input_has_the_name_of_an_output(tmp_path: Path) -> None:
    input_fn = make_named_input_fn(["y"])
    estimator = est.Estimator(make_model_fn(lambda features: features["y"]), str(tmp_path))
    estimator.train(input_fn, steps=1)
    graph, answers, wanted = build(estimator, input_fn)
    assert set(graph.inputs) == {"y_input"}
    assert set(graph.outputs) == {"y"}
    assert_close(answers, wanted)


def look_up(features: Any) -> Any:
    keys, values = tf.constant([7, 1], tf.int64), tf.constant([0.5, 2.0])
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    return tf.lookup.StaticHashTable(initializer, -1.0).lookup(features["zip"])


def test_sparse_features(tmp_path: Path) -> None:
    def input_fn() -> Any:
        def to_sparse(features: Any, label: Any) -> Any:
            likes = tf.sparse.from_dense(features["likes"])
            return {"likes": likes, "age": features["age"]}, label

        return portable_models.make_input_fn(40, 20)().map(to_sparse)

    column = fc.categorical_column_with_vocabulary_list("likes", ["tea", "sea"])
    estimator = est.LinearRegressor([column, fc.numeric_column("age")], str(tmp_path))
    estimator.train(input_fn, steps=2)
    graph, answers, wanted = build(estimator, input_fn)
    assert set(graph.inputs) == {"likes", "age"}
    assert_close(answers, wanted)


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda f: tf.strings.length(f["job"]), "Feature 'job' is strings, and the model reads it"),
        (
            lambda f: tf.compat.v1.py_func(lambda x: x, [f["age"]], tf.float32),
            "is Python code \\(tf.py_function\\), which a file cannot contain",
        ),
        (lambda f: f["job"], "has only outputs of strings, \\['y'\\]"),
        (look_up, "reads a table of tf.lookup, which a file cannot contain"),
    ],
)
def test_unsupported_models_are_refused(tmp_path: Path, predict: Any, message: str) -> None:
    estimator = est.Estimator(make_model_fn(predict), str(tmp_path))
    portable_models.train(estimator, 1)
    with pytest.raises(UnsupportedModelError, match=message):
        build(estimator)


def test_outputs_and_signatures_are_chosen_by_name(tmp_path: Path) -> None:
    estimator = portable_models.make_numeric(tmp_path)
    graph, _, _ = build(estimator, outputs=["class_ids", "probabilities"])
    assert set(graph.outputs) == {"class_ids", "probabilities"}
    graph, _, _ = build(estimator, signature="classification")
    assert set(graph.outputs) == {"scores"}
    text = r"'x' does not exist; this model has \['class.*'predict'.*`signature` chooses one"
    with pytest.raises(ValueError, match=text):
        build(estimator, signature="x")
    with pytest.raises(ValueError, match="signature 'predict' has no \\['y'\\]; it has \\['all_"):
        build(estimator, outputs=["y"])
    with pytest.raises(UnsupportedModelError, match="\\['classes'\\] are strings"):
        build(estimator, outputs=["classes", "logits"])


def test_cross_of_normalized_buckets_is_refused(tmp_path: Path) -> None:
    age = fc.numeric_column("age", normalizer_fn=lambda x: x / 2.0)
    columns = [fc.crossed_column([fc.bucketized_column(age, [20.0]), "job"], 10)]
    estimator = portable_models.train(est.LinearClassifier(columns, str(tmp_path)))
    with pytest.raises(UnsupportedModelError, match="uses the buckets of 'age', whose normalizer"):
        build(estimator)
