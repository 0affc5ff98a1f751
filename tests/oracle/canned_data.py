"""Data and feature columns of the questions about canned estimators."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from jobs import values

fc = tf.feature_column
ROWS = 64
BATCH = 16
WORK = ("private", "public", "self", "none")
JOBS = ("clerk", "nurse", "smith", "cook", "pilot")
SCHOOL = ("primary", "secondary", "college", "doctorate")
TAGS = ("a", "b", "c", "d", "e", "f")
NAMES = ("low", "middle", "high")


def rows(count: int, seed: int) -> dict[str, Any]:
    """Columns of a made-up census, as NumPy arrays; `tags` and their weights are lists."""
    random = np.random.RandomState(seed)
    age = random.uniform(18, 80, count).astype(np.float32)
    hours = random.uniform(0, 60, count).astype(np.float32)
    counts = random.randint(0, 4, count)
    found = {
        "age": age,
        "hours": hours,
        "scores": values(count, 3, seed=seed),
        "weight": random.uniform(0.5, 2.0, count).astype(np.float32),
        # Some words are in no vocabulary, and some are empty.
        "work": random.choice([*WORK, "other", ""], count),
        "job": random.choice(JOBS, count),
        "school": random.choice([*SCHOOL, "abroad"], count),
        "rating": random.randint(0, 6, count).astype(np.int64),
        "tags": [list(random.choice(TAGS, size)) for size in counts],
        "tag_weights": [list(random.uniform(0.1, 2.0, size)) for size in counts],
    }
    score = (age - 45) / 20 + found["scores"][:, 0] + (found["rating"] > 3)
    found["label"] = (score > 0).astype(np.int64)
    found["class"] = np.digitize(score, [-0.5, 0.8]).astype(np.int64)
    found["name"] = np.array(NAMES)[found["class"]]
    found["number"] = score.astype(np.float32)
    found["count"] = np.exp(score).astype(np.int64).astype(np.float32)
    found["pair"] = np.stack([score, found["scores"][:, 1]], axis=1).astype(np.float32)
    found["several"] = (found["scores"] > 0).astype(np.int64)
    return found


def input_fn(
    label: str,
    count: int = ROWS,
    seed: int = 1,
    repeat: bool = True,
    tensors: bool = False,
) -> Callable[[], Any]:
    """Returns an input_fn with one of the labels and all columns, in a fixed order."""

    def batches() -> tf.data.Dataset:
        columns = rows(count, seed)
        found = {key: columns[key] for key in DENSE}
        for key, dtype in SPARSE:
            found[key] = _sparse(columns[key], dtype)
        data = tf.data.Dataset.from_tensor_slices((found, columns[label]))
        data = (data.repeat() if repeat else data).batch(BATCH)
        if not tensors:
            return data
        # The original takes the first batch away as it makes variables.
        data = data.take(1).repeat()
        return tf.compat.v1.data.make_one_shot_iterator(data).get_next()

    return batches


DENSE = ("age", "hours", "scores", "weight", "work", "job", "school", "rating")
SPARSE = (("tags", tf.string), ("tag_weights", tf.float32))


def _sparse(lists: list[list[Any]], dtype: tf.DType) -> tf.SparseTensor:
    indices = [[row, place] for row, words in enumerate(lists) for place in range(len(words))]
    flat = [word for words in lists for word in words]
    shape = [len(lists), max(len(words) for words in lists)]
    return tf.SparseTensor(indices, tf.constant(flat, dtype), shape)


def school_file() -> str:
    """Returns a vocabulary file, made once in a process."""
    if "path" not in _FILES:
        directory = tempfile.mkdtemp(prefix="vocabulary")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        _FILES["path"] = os.path.join(directory, "schools.txt")
        with open(_FILES["path"], "w", encoding="utf-8") as file:
            file.write("\n".join(SCHOOL) + "\n")
    return _FILES["path"]


_FILES: dict[str, str] = {}


def categorical() -> dict[str, Any]:
    """Returns one categorical column of each kind."""
    age = fc.bucketized_column(fc.numeric_column("age"), [30.0, 50.0, 65.0])
    job = fc.categorical_column_with_hash_bucket("job", 7)
    tags = fc.categorical_column_with_vocabulary_list("tags", TAGS)
    return {
        "work": fc.categorical_column_with_vocabulary_list("work", WORK, num_oov_buckets=2),
        "school": fc.categorical_column_with_vocabulary_file("school", school_file(), 4),
        "job": job,
        "rating": fc.categorical_column_with_identity("rating", 5, default_value=0),
        "age": age,
        "job x age": fc.crossed_column(["job", age], 11),
        "tags": tags,
        "weighted": fc.weighted_categorical_column(tags, "tag_weights"),
    }


def wide() -> list[Any]:
    """Columns of a linear model: categorical ones of every kind, and numbers."""
    columns = categorical()
    columns.pop("tags")
    scores = fc.numeric_column("scores", shape=[3])
    hours = fc.numeric_column("hours", normalizer_fn=_tenth)
    return [*columns.values(), scores, hours]


def deep() -> list[Any]:
    """Columns of a DNN: dense ones of every kind, without shared embeddings."""
    columns = categorical()
    return [
        fc.numeric_column("scores", shape=[3]),
        fc.numeric_column("hours", normalizer_fn=_tenth),
        columns["age"],
        fc.indicator_column(columns["work"]),
        fc.indicator_column(columns["rating"]),
        fc.indicator_column(columns["weighted"]),
        fc.embedding_column(columns["job"], 3),
        fc.embedding_column(columns["school"], 2, combiner="sum"),
        fc.embedding_column(columns["job x age"], 2, max_norm=0.9),
        fc.embedding_column(columns["tags"], 4, combiner="sqrtn"),
    ]


def shared() -> list[Any]:
    """Returns two columns that share an embedding, and a numeric column."""
    columns = [fc.categorical_column_with_hash_bucket(key, 9) for key in ("job", "work")]
    with tf.Graph().as_default():  # TensorFlow refuses to share them in eager code
        embedded = fc.shared_embeddings(columns, 3)
    return [*embedded, fc.numeric_column("scores", shape=[3])]


def simple() -> list[Any]:
    """Returns two numeric columns and an embedding."""
    return [
        fc.numeric_column("scores", shape=[3]),
        fc.numeric_column("hours", normalizer_fn=_tenth),
        fc.embedding_column(categorical()["job"], 3),
    ]


def _tenth(numbers: tf.Tensor) -> tf.Tensor:
    return numbers / 10.0 - 3.0
