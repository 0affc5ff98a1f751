"""Dual coordinate ascent: questions to the original and to estimator_train.

Its steps depend on the order of threads, so that only the final results are compared.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from canned_figures import plain_signatures, receiver
from jobs import Api

fc = tf.feature_column
STEPS = 60


def columns() -> list[Any]:
    ages = fc.bucketized_column(fc.numeric_column("age"), [20.0, 40.0])
    job = fc.categorical_column_with_vocabulary_list("job", list("abc"))
    return [
        fc.numeric_column("x", shape=2),
        ages,
        fc.weighted_categorical_column(job, "size"),
        fc.crossed_column(["job", ages], 9),
    ]


def input_fn(label: str) -> Any:
    random = np.random.RandomState(0)
    features = {
        "id": np.array([f"row {number}" for number in range(16)]),
        "x": random.uniform(-1, 1, (16, 2)).astype(np.float32),
        "age": random.uniform(0, 80, 16).astype(np.float32),
        "job": random.choice(list("abcde"), 16),
        "size": random.uniform(0.5, 2, 16).astype(np.float32),
        "weight": random.uniform(0.5, 2, 16).astype(np.float32),
    }
    score = features["x"][:, 0] + (features["job"] == "a")
    labels = {"class": (score > 0).astype(np.int64), "number": score.astype(np.float32)}

    def batches() -> tf.data.Dataset:
        data = tf.data.Dataset.from_tensor_slices((features, labels[label]))
        return data.repeat().batch(16)

    return batches


CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "classifier": ("LinearClassifier", "class", {"num_table_shards": 2}),
    "regressor": (
        "LinearRegressor",
        "number",
        {"symmetric_l1_regularization": 0.2, "symmetric_l2_regularization": 2.0, "adaptive": True},
    ),
}


def observe(api: Api, kind: str, label: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Train and evaluate: figures by name."""
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = getattr(api.estimator, kind)(
            columns(),
            model_dir=model_dir,
            weight_column="weight",
            optimizer=api.estimator.experimental.LinearSDCA("id", **settings),
            config=api.estimator.RunConfig(save_summary_steps=STEPS - 1),
        )
        estimator.train(input_fn(label), steps=STEPS)
        values = {
            name: estimator.get_variable_value(name) for name in estimator.get_variable_names()
        }
        result = estimator.evaluate(input_fn(label), steps=1)
        row = next(estimator.predict(input_fn(label)))
        exported = estimator.export_saved_model(f"{model_dir}/export", receiver(api, columns()))
        return {
            "predictions": {key: [str(v.dtype), list(v.shape)] for key, v in row.items()},
            "signatures": plain_signatures(exported),
            "variables": {name: [str(v.dtype), list(v.shape)] for name, v in values.items()},
            "weights": {
                name: value.reshape(-1).tolist()
                for name, value in values.items()
                if "weights" in name
            },
            "tags": _tags(model_dir),
            "evaluation": {key: float(value) for key, value in result.items()},
        }


def _tags(model_dir: str) -> dict[str, float]:
    """Returns the last value of each tag."""
    return {
        value.tag: value.simple_value
        for path in sorted(Path(model_dir).glob("events.*"))
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
        if "/sec" not in value.tag
    }
