"""Mistakes in canned estimators: functions that build each, and its training input.

The answer is the kind of error and its first line, or "no error".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from ask_heads_bad_input import answer

fc = tf.feature_column
AGE = fc.numeric_column("age")
JOB = fc.categorical_column_with_hash_bucket("job", 5)


def rows(labels: Any = (0, 1, 0, 1), **changes: Any) -> Callable[[], Any]:
    features = {"age": np.ones(4, np.float32), "job": np.array(list("abcd")), "unused": [1] * 4}
    found = {key: value for key, value in {**features, **changes}.items() if value is not None}
    return lambda: tf.data.Dataset.from_tensor_slices((found, list(labels))).batch(4)


AT_CONSTRUCTION: dict[str, Any] = {
    "no columns": lambda api: api.LinearClassifier([]),
    "no columns of a network": lambda api: api.DNNClassifier([2], None),
    "a name in place of a column": lambda api: api.LinearClassifier(["age"]),
    "one name twice": lambda api: api.LinearRegressor([AGE, fc.numeric_column("age")]),
    "no columns at all": lambda api: api.DNNLinearCombinedClassifier(),
    "no hidden layers": lambda api: api.DNNLinearCombinedRegressor(dnn_feature_columns=[AGE]),
    "a layer of no size": lambda api: api.DNNRegressor([0], [AGE]),
    "dropout of all": lambda api: api.DNNRegressor([2], [AGE], dropout=1.5),
    "one class": lambda api: api.LinearClassifier([AGE], n_classes=1),
    "no label": lambda api: api.DNNRegressor([2], [AGE], label_dimension=0),
}
# Training with these ends the process of tf.estimator.
DEADLY = {"a layer of no size"}
IN_TRAINING: dict[str, Any] = {
    "a combiner": (lambda api: api.LinearRegressor([JOB], sparse_combiner="max"), rows()),
    "an optimizer's name": (lambda api: api.LinearRegressor([JOB], optimizer="foo"), rows()),
    "a missing feature": (lambda api: api.LinearClassifier([AGE]), rows(age=None)),
    "a missing feature of a network": (
        lambda api: api.DNNClassifier([2], [fc.embedding_column(JOB, 2)]),
        rows(job=None),
    ),
    "a categorical column in a network": (lambda api: api.DNNClassifier([2], [JOB]), rows()),
    "features that are no dict": (
        lambda api: api.LinearClassifier([AGE]),
        lambda: tf.data.Dataset.from_tensors((np.ones([4, 1]), np.ones(4))),
    ),
    "a label that is no class": (lambda api: api.LinearClassifier([AGE]), rows([0, 1, 5, 1])),
    "names without a vocabulary": (lambda api: api.LinearClassifier([AGE]), rows(list("abab"))),
    "labels of another shape": (lambda api: api.LinearClassifier([AGE]), rows([[0, 1]] * 4)),
    "negative weights": (
        lambda api: api.DNNRegressor([2], [AGE], weight_column="weight"),
        rows(weight=np.float32([1, 1, -1, 1])),
    ),
}


def questions(apis: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Returns all questions by name, of the estimators by the name of their API.

    A mistake in the construction is also asked in training, because tf.estimator finds it there.
    """
    cases = {
        name: (make, None if name in DEADLY else rows()) for name, make in AT_CONSTRUCTION.items()
    }
    return {
        f"{version} {name}": functools.partial(_trained, make, api, input_fn)
        for version, api in apis.items()
        for name, (make, input_fn) in {**cases, **IN_TRAINING}.items()
    }


def _trained(make: Callable[[Any], Any], api: Any, input_fn: Callable[[], Any] | None) -> Any:
    try:
        estimator = make(api)
        return estimator.train(input_fn, steps=1) if input_fn else estimator
    except ValueError as error:
        # The last line of an error in a traced function is its message.
        *_, last = str(error).strip().splitlines()
        raise ValueError(last.strip().removeprefix("ValueError: ")) from error


def answers(apis: dict[str, Any]) -> dict[str, Any]:
    return {name: answer(call) for name, call in questions(apis).items()}
