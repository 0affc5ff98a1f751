"""Recurrent estimators: what is asked of the original and of estimator_train alike."""

from __future__ import annotations

import tempfile
from typing import Any

import tensorflow as tf
from canned_figures import FixedValues, losses
from jobs import Api

fc = tf.feature_column
WORDS = [["a", "b", "c", "d"], ["c", "", "", ""], ["b", "a", "", ""], ["d", "d", "a", ""]]
LENGTHS = [4, 1, 2, 3]


def columns() -> list[Any]:
    words = fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c", "d"])
    return [fc.embedding_column(words, 3), fc.sequence_numeric_column("sizes")]


def context() -> list[Any]:
    return [fc.numeric_column("age")]


def features() -> dict[str, Any]:
    sizes = [[0.5 * (step + 1) * (step < n) for step in range(4)] for n in LENGTHS]
    return {
        "words": tf.sparse.from_dense(WORDS),
        "sizes": tf.sparse.from_dense(sizes),
        "age": tf.constant([[0.1], [0.4], [-0.3], [0.9]]),
    }


def of_steps() -> Any:
    """Features, and a label for every step."""
    labels = [[row + step for step in range(n)] + [-1] * (4 - n) for row, n in enumerate(LENGTHS)]
    present = tf.where(tf.constant(labels) >= 0)
    values = tf.gather_nd(tf.constant(labels), present) % 3
    return features(), tf.SparseTensor(present, values, [4, 4])


def step_classifier(api: Api, model_dir: str, **arguments: Any) -> Any:
    """A classifier of steps, which is the one that the original can train."""
    return api.estimator.experimental.RNNClassifier(
        columns(),
        return_sequences=True,
        n_classes=3,
        model_dir=model_dir,
        config=api.estimator.RunConfig(save_summary_steps=1),
        **arguments,
    )


CASES = {
    "simple": {"units": [4]},
    "stacked": {"units": [4, 3], "cell_type": "gru", "context_feature_columns": context},
    "lstm": {"units": [4], "cell_type": "lstm", "optimizer": "Adam"},
}


def observe(api: Api, arguments: dict[str, Any]) -> dict[str, Any]:
    """Train 5 steps, evaluate and predict."""
    made = {key: value() if callable(value) else value for key, value in arguments.items()}
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = step_classifier(api, model_dir, **made)
        estimator.train(of_steps, hooks=[FixedValues()], steps=5)
        names = sorted(estimator.get_variable_names())
        result = estimator.evaluate(of_steps, steps=1)
        row = next(estimator.predict(lambda: features()))
        return {
            "variables": {name: list(estimator.get_variable_value(name).shape) for name in names},
            "losses": losses(model_dir),
            "evaluation": {key: float(value) for key, value in result.items()},
            "predictions": {
                key: [str(value.dtype), list(value.shape)] for key, value in row.items()
            },
            "probabilities": row["probabilities"].reshape(-1).tolist(),
        }
