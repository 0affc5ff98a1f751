"""Recurrent estimators, as cases by name: those of steps, which the original can train."""

from __future__ import annotations

import importlib
from typing import Any

import tensorflow as tf
from canned_figures import Case
from jobs import Api

fc = tf.feature_column
WORDS = [["a", "b", "c", "d"], ["c", "", "", ""], ["b", "a", "", ""], ["d", "d", "a", ""]]
LENGTHS = [4, 1, 2, 3]


def columns() -> list[Any]:
    words = fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c", "d"])
    return [fc.embedding_column(words, 3), fc.sequence_numeric_column("sizes")]


def context_columns() -> list[Any]:
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


def _steps_head(api: Api) -> Any:
    """A head of steps, whose class the original does not publish."""
    try:
        home = importlib.import_module("tensorflow_estimator.python.estimator.head.sequential_head")
    except ImportError:
        home = importlib.import_module("estimator_train.heads")
    head = api.estimator.MultiClassHead(3, loss_reduction="sum")
    return home.SequentialHeadWrapper(head, "mask")


def _case(*, context: bool = False, own_head: bool = False, **arguments: Any) -> Case:
    def build(api: Api, model_dir: str, config: Any) -> Any:
        kinds = api.estimator.experimental
        if own_head:
            kind, head = kinds.RNNEstimator, {"head": _steps_head(api)}
        else:
            kind, head = kinds.RNNClassifier, {"n_classes": 3}
        return kind(
            sequence_feature_columns=columns(),
            context_feature_columns=context_columns() if context else None,
            return_sequences=True,
            model_dir=model_dir,
            config=config,
            **head,
            **arguments,
        )

    return Case(build, of_steps, of_steps, lambda: [*columns(), *context_columns()], eval_steps=1)


CASES = {
    "simple": _case(units=[4]),
    "stacked": _case(units=[4, 3], cell_type="gru", context=True),
    "lstm": _case(units=[4], cell_type="lstm", optimizer="Adam"),
    "estimator": _case(units=[4], own_head=True),
}
