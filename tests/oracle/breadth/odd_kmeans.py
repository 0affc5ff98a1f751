"""Odd values for k-means: points, centers, counts, columns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from breadth.odd import made, odd
from breadth.odd_values import word, x
from jobs import Api

tf1 = tf.compat.v1
POINTS = np.array([[1, 0], [0, 1], [1, 1], [10, 10], [10, 11], [20, 1]], np.float32)


def _clustered(points: Callable[[], Any], **arguments: Callable[[], Any]) -> Any:
    def ask(api: Api, directory: str) -> Any:
        values = {name: make() for name, make in arguments.items()}
        count = values.pop("num_clusters", 2)
        values.setdefault("initial_clusters", POINTS[[0, 3]].tolist())
        estimator = made(api, directory, "KMeans", count, **values)
        estimator.train(points, steps=2)
        return [
            estimator.score(points),
            sorted(map(int, estimator.predict_cluster_index(lambda: _once(points)))),
            np.array(list(estimator.transform(lambda: _once(points)))),
            estimator.cluster_centers(),
            sorted(estimator.get_variable_names()),
        ]

    return ask


def _once(points: Callable[[], Any]) -> Any:
    found = points()
    return found.take(1) if isinstance(found, tf.data.Dataset) else found


def _tensor() -> Any:
    return tf.data.Dataset.from_tensors(POINTS).repeat()


def _of(features: Callable[[], Any]) -> Any:
    return lambda: tf.data.Dataset.from_tensors(features()).repeat()


POINTS_GIVEN: dict[str, Callable[[], Any]] = {
    "a tensor": _tensor,
    "a dict": _of(lambda: {"x": POINTS}),
    "a dict of two": _of(lambda: {"b": POINTS[:, :1], "a": POINTS[:, 1:]}),
    "a dict of numbers": _of(lambda: {"b": POINTS[:, 0], "a": POINTS[:, 1]}),
    "numbers alone": _of(lambda: POINTS[:, 0]),
    "with labels": _of(lambda: (POINTS, POINTS[:, 0])),
    "doubles": _of(lambda: POINTS.astype(np.float64)),
    "integers": _of(lambda: POINTS.astype(np.int64)),
    "three dimensions": _of(lambda: POINTS.reshape([3, 2, 2])),
    "sparse": _of(lambda: tf.sparse.from_dense(POINTS)),
    "a scalar in batches": _of(lambda: np.float32(1)),
}
CENTERS: dict[str, Callable[[], Any]] = {
    "list": lambda: POINTS[[0, 3]].tolist(),
    "tuple": lambda: ((1.0, 0.0), (10.0, 10.0)),
    "doubles": lambda: POINTS[[0, 3]].astype(np.float64),
    "integers": lambda: [[1, 0], [10, 10]],
    "a tensor": lambda: tf.constant(POINTS[[0, 3]]),
    "too few": lambda: POINTS[[0]],
    "too many": lambda: POINTS[[0, 3, 5]],
    "of another size": lambda: POINTS[[0, 3], :1],
    "function": lambda: lambda inputs, count: tf.constant(POINTS[[0, 3]]),
    "function of doubles": lambda: lambda inputs, count: POINTS[[0, 3]].astype(np.float64),
    "partial": lambda: functools.partial(lambda a, inputs, count: inputs[0][:2], 1),
    "object": lambda: type("Init", (), {"__call__": lambda self, i, n: i[0][:2]})(),
    "function of too many": lambda: lambda inputs, count: inputs[0],
    "unknown": lambda: "nothing",
    "a str of NumPy": lambda: np.str_("kmeans_plus_plus"),
    "bytes": lambda: b"random",
    "None": lambda: None,
}
odd("KMeans.points", {k: _clustered(v) for k, v in POINTS_GIVEN.items()}, ("v1",))
odd(
    "KMeans.initial_clusters",
    {k: _clustered(_tensor, initial_clusters=v) for k, v in CENTERS.items()},
    ("v1",),
)
KMEANS: dict[str, dict[str, Callable[[], Any]]] = {
    "count of NumPy": {"num_clusters": lambda: np.int64(2)},
    "count that is a float": {"num_clusters": lambda: 2.0},
    "count that is an array": {"num_clusters": lambda: np.array(2)},
    "count that is a tensor": {"num_clusters": lambda: tf.constant(2)},
    "no count": {"num_clusters": lambda: 0},
    "negative count": {"num_clusters": lambda: -1},
    "cosine": {"distance_metric": lambda: "cosine"},
    "distance of NumPy": {"distance_metric": lambda: np.str_("cosine")},
    "unknown distance": {"distance_metric": lambda: "nothing"},
    "all points": {"use_mini_batch": lambda: False},
    "all points, by an int": {"use_mini_batch": lambda: 0},
    "tolerance": {"use_mini_batch": lambda: False, "relative_tolerance": lambda: 0.5},
    "tolerance with mini batches": {"relative_tolerance": lambda: 0.5},
    "negative tolerance": {"use_mini_batch": lambda: False, "relative_tolerance": lambda: -1},
    "no iterations": {"mini_batch_steps_per_iteration": lambda: 0},
    "negative iterations": {"mini_batch_steps_per_iteration": lambda: -1},
    "iterations of NumPy": {"mini_batch_steps_per_iteration": lambda: np.int64(2)},
    "iterations that are a float": {"mini_batch_steps_per_iteration": lambda: 2.0},
    "seed of NumPy": {"seed": lambda: np.int64(3)},
    "seed that is a float": {"seed": lambda: 3.0},
    "no retries": {
        "kmeans_plus_plus_num_retries": lambda: 0,
        "initial_clusters": lambda: "kmeans_plus_plus",
        "seed": lambda: 1,
    },
    "negative retries": {
        "kmeans_plus_plus_num_retries": lambda: -2,
        "initial_clusters": lambda: "kmeans_plus_plus",
        "seed": lambda: 1,
    },
}
odd("KMeans", {k: _clustered(_tensor, **v) for k, v in KMEANS.items()}, ("v1",))
KMEANS_COLUMNS: dict[str, Callable[[], Any]] = {
    "list": lambda: [x()],
    "tuple": lambda: (x(),),
    "one": x,
    "generator": lambda: (column for column in [x()]),
    "dict": lambda: {"x": x()},
    "none of them": list,
    "categorical": lambda: [word()],
}
odd(
    "KMeans.feature_columns",
    {
        k: _clustered(_of(lambda: {"x": POINTS, "y": POINTS}), feature_columns=v)
        for k, v in KMEANS_COLUMNS.items()
    },
    ("v1",),
)
