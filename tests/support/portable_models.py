"""Estimators to convert, and their rows: numbers, and the kinds of columns of strings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras

import estimator_train as est

fc = tf.feature_column
ROWS = 1000
SCHOOLS = ["Bachelors", "HS-grad", "Masters"]
JOBS = ["Sales", "Craft-repair", "Tech-support", "", "Exec-managerial"]


def make_rows(rows: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Returns features like those of a census, with unknown and missing values, and labels."""
    random = np.random.default_rng(1)
    features = {
        "age": random.integers(17, 90, rows).astype(np.float32),
        "hours": random.normal(40, 10, [rows, 2]).astype(np.float32),
        "school": random.choice([*SCHOOLS, "unknown", ""], rows).astype(object),
        "job": random.choice([*JOBS, *(f"job {i}" for i in range(20))], rows).astype(object),
        "country": random.choice(["US", "DE", "FR"], rows).astype(object),
        "zip": random.integers(-2, 50, rows),
        "likes": random.choice(["tea", "art", "sea", ""], [rows, 3]).astype(object),
        "scores": random.uniform(0.5, 2.0, [rows, 3]).astype(np.float32),
    }
    features["scores"][features["likes"] == ""] = 0.0
    labels = (features["age"] > 40) ^ (features["school"] == "Masters")
    return features, labels.astype(np.int64)


def make_input_fn(rows: int = 200, batch: int = 50) -> Callable[[], Any]:
    return lambda: tf.data.Dataset.from_tensor_slices(make_rows(rows)).batch(batch)


def train(estimator: Any, steps: int = 5) -> Any:
    return estimator.train(lambda: make_input_fn()().repeat(), steps=steps)


def make_census(model_dir: Path, **options: Any) -> Any:
    """Returns a trained wide & deep model with every kind of columns."""
    age = fc.numeric_column("age")
    decade = fc.bucketized_column(age, [18, 25, 30, 40, 50, 60])
    hours = fc.bucketized_column(fc.numeric_column("hours", shape=2), [20.0, 40.0])
    school = fc.categorical_column_with_vocabulary_list("school", SCHOOLS, num_oov_buckets=2)
    job = fc.categorical_column_with_hash_bucket("job", 100)
    country = fc.categorical_column_with_vocabulary_list("country", ["US", "DE"])
    place = fc.categorical_column_with_identity("zip", 40, default_value=0)
    likes = fc.categorical_column_with_hash_bucket("likes", 20)
    liked = fc.weighted_categorical_column(likes, "scores")
    wide = [
        school,
        decade,
        hours,
        liked,
        fc.crossed_column(["school", "job"], 1000),
        fc.crossed_column([decade, school, "country"], 500, hash_key=77),
    ]
    deep = [
        age,
        fc.numeric_column("hours", shape=2, normalizer_fn=lambda x: x / 40.0),
        hours,
        fc.indicator_column(country),
        fc.indicator_column(liked),
        fc.embedding_column(job, 8),
        fc.embedding_column(likes, 4, combiner="sqrtn"),
        fc.embedding_column(liked, 3),
        fc.embedding_column(place, 3, combiner="sum"),
    ]
    other_school = fc.categorical_column_with_vocabulary_list("school", ["US", "HS-grad"])
    with tf.Graph().as_default():
        deep += fc.shared_embeddings([country, other_school], 2)
    return train(
        est.DNNLinearCombinedClassifier(
            model_dir=str(model_dir),
            linear_feature_columns=wide,
            dnn_feature_columns=deep,
            dnn_hidden_units=[16, 8],
            **options,
        )
    )


def make_numeric(model_dir: Path) -> Any:
    """Returns a trained classifier of three classes on numbers."""
    columns = [fc.numeric_column("age"), fc.numeric_column("hours", shape=2)]
    return train(est.DNNClassifier([8], columns, str(model_dir), n_classes=3))


def make_small_input_fn(labels: Any) -> Callable[[], Any]:
    """Returns an input_fn with a number `x`, pictures and the labels."""
    random = np.random.default_rng(2)
    features = {
        "x": random.normal(size=ROWS).astype(np.float32),
        "picture": random.normal(size=[ROWS, 8, 8, 1]).astype(np.float32),
    }
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).batch(250)


def make_tree_features() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    features = {
        "hours": random.normal(40, 10, [ROWS, 2]).astype(np.float32),
        "age": random.integers(17, 90, ROWS).astype(np.float32),
        "zip": random.integers(0, 12, ROWS),
        "school": random.choice([*SCHOOLS, "unknown", ""], ROWS).astype(object),
        "rate": random.integers(0, 4, ROWS).astype(np.float32),
        "job": random.choice(JOBS, ROWS).astype(object),
    }
    features["hours"][::7, 0] = np.nan
    return features


def make_tree_scores() -> np.ndarray:
    """Returns numbers that depend on all features of trees."""
    features = make_tree_features()
    hours = np.nan_to_num(features["hours"])
    terms = hours[:, 0] / 10, hours[:, 1] / 10, features["age"] / 20, features["rate"]
    masters, sales = features["school"] == "Masters", features["job"] == "Sales"
    return np.float32(sum(terms) + 3 * (features["zip"] == 5) + 2 * masters + 4 * sales)


def make_trees(model_dir: Path, classes: int | None = 2) -> tuple[Any, Callable[[], Any]]:
    """Returns boosted trees on every kind of columns that they split on; a regressor for None."""
    school = fc.categorical_column_with_vocabulary_list("school", SCHOOLS)
    columns = [
        fc.numeric_column("hours", shape=2),
        fc.bucketized_column(fc.numeric_column("age"), [20, 30, 40, 50, 60]),
        fc.categorical_column_with_identity("zip", 12, default_value=0),
        fc.indicator_column(school),
        fc.numeric_column("rate"),
        fc.categorical_column_with_hash_bucket("job", 9),
        fc.indicator_column(fc.crossed_column(["school", "job"], 11)),
    ]
    labels: Any = make_tree_scores()
    settings = {"n_trees": 6, "max_depth": 4, "model_dir": str(model_dir)}
    estimator: Any
    if classes:
        edges = np.quantile(labels, np.arange(1, classes) / classes)
        labels = np.digitize(labels, edges).astype(np.int64)
        estimator = est.BoostedTreesClassifier(columns, 1, n_classes=classes, **settings)
    else:
        estimator = est.BoostedTreesRegressor(columns, 1, **settings)

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices((make_tree_features(), labels)).batch(ROWS)

    # The last tree has not grown to the end.
    return estimator.train(lambda: input_fn().repeat(), steps=21), input_fn


def make_multi_head(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    heads = [est.MultiClassHead(3, name="kind"), est.RegressionHead(name="size")]
    labels = {"kind": np.arange(ROWS) % 3, "size": np.linspace(0, 1, ROWS, dtype=np.float32)}
    input_fn = make_small_input_fn(labels)
    columns = [fc.numeric_column("x")]
    estimator = est.DNNEstimator(est.MultiHead(heads), [8], columns, str(model_dir))
    return estimator.train(input_fn), input_fn


def make_counts(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    input_fn = make_small_input_fn(np.arange(ROWS, dtype=np.float32) % 4)
    columns = [fc.numeric_column("x")]
    estimator = est.DNNEstimator(est.PoissonRegressionHead(), [8], columns, str(model_dir))
    return estimator.train(input_fn), input_fn


def _convnet(features: Any, labels: Any, mode: str) -> Any:
    x = tf_keras.layers.Conv2D(8, 3, activation="relu")(features["picture"])
    x = tf_keras.layers.Flatten()(tf_keras.layers.MaxPool2D()(x))
    logits = tf_keras.layers.Dense(10)(x)
    predictions = {"digit": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return est.EstimatorSpec(mode, predictions, loss, train_op)


def make_convnet(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    input_fn = make_small_input_fn(np.arange(ROWS) % 10)
    return est.Estimator(_convnet, str(model_dir)).train(input_fn), input_fn


def make_operation(model_dir: Path, operation: Any) -> tuple[Any, Callable[[], Any]]:
    """Returns a model that computes one operation of `x`."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = tf.compat.v1.get_variable("w", [])
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.assign_add(step, 1)
        return est.EstimatorSpec(mode, {"y": operation(features["x"])}, w, train_op)

    input_fn = make_small_input_fn(np.zeros(ROWS))
    return est.Estimator(model_fn, str(model_dir)).train(input_fn, steps=1), input_fn


def make_clicks(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    """Returns a model of clicks: hash buckets of strings and integers, embeddings, a cross."""
    random = np.random.default_rng(3)
    users, items = random.integers(0, 10**9, [2, ROWS])
    features = {
        "user": np.array([f"user-{user:x}" for user in users], object),
        "item": items,
        "place": random.choice(["top", "left", "", "Ω"], ROWS).astype(object),
        "price": random.uniform(0, 9, ROWS).astype(np.float32),
    }
    user = fc.categorical_column_with_hash_bucket("user", 5000)
    item = fc.categorical_column_with_hash_bucket("item", 3000, tf.int64)
    place = fc.categorical_column_with_hash_bucket("place", 7)
    estimator = est.DNNLinearCombinedClassifier(
        model_dir=str(model_dir),
        linear_feature_columns=[user, item, fc.crossed_column(["item", "place"], 10_000)],
        dnn_feature_columns=[
            *(fc.embedding_column(column, 8) for column in (user, item)),
            fc.indicator_column(place),
            fc.numeric_column("price"),
        ],
        dnn_hidden_units=[16],
    )
    rows = features, (items + users) % 2

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(rows).batch(250)

    return estimator.train(input_fn), input_fn


def make_rnn(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    """Returns a recurrent classifier of sequences of words, with unknown words and gaps."""
    random = np.random.default_rng(4)
    words = random.choice(["up", "down", "left", "new"], [ROWS, 7]).astype(object)
    words[np.arange(7) >= random.integers(1, 8, [ROWS, 1])] = ""
    words[:50:3, 1] = ""
    rows = {"words": words, "age": random.normal(size=ROWS).astype(np.float32)}
    labels = (words == "up").sum(1) > 1

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices((rows, labels.astype(np.int64))).batch(250)

    column = fc.sequence_categorical_column_with_vocabulary_list("words", ["up", "down", "left"])
    estimator = est.experimental.RNNClassifier(
        [fc.embedding_column(column, 4), fc.indicator_column(column)],
        [fc.numeric_column("age")],
        units=[5, 4],
        cell_type="lstm",
        model_dir=str(model_dir),
    )
    return estimator.train(input_fn), input_fn


def make_keras(model_dir: Path) -> tuple[Any, Callable[[], Any]]:
    """Returns a tf-keras model with a recurrent layer, as an Estimator."""
    steps = tf_keras.Input([7, 3], name="steps")
    x = tf_keras.layers.Bidirectional(tf_keras.layers.LSTM(4))(steps)
    model = tf_keras.Model(steps, tf_keras.layers.Dense(2, name="out")(x))
    model.compile("sgd", "mse")
    random = np.random.default_rng(5)
    rows = {"steps": random.normal(size=[ROWS, 7, 3]).astype(np.float32)}

    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices((rows, np.zeros([ROWS, 2]))).batch(250)

    estimator = est.keras.model_to_estimator(model, model_dir=str(model_dir))
    return estimator.train(input_fn), input_fn
