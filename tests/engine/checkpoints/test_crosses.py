"""Warnings of crossed columns whose keys are dense in one call and sparse in another.

These tests cover `warn_of_reordered_crosses` of `engine/checkpoints/reading.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train

column = tf.feature_column


def make_estimator(model_dir: Path) -> estimator_train.Estimator:
    bucket = column.bucketized_column(column.numeric_column("x"), [0.0])
    cross = column.crossed_column(["word", bucket], 1000)
    return estimator_train.LinearClassifier([cross], model_dir=model_dir)


def make_rows() -> tf.data.Dataset:
    features = {"x": [[-1.0], [1.0]], "word": [["a"], ["b"]]}
    return tf.data.Dataset.from_tensors((features, [0, 1])).repeat(2)


def make_sparse_rows() -> tf.data.Dataset:
    return make_rows().map(
        lambda features, labels: (
            {**features, "word": tf.sparse.from_dense(features["word"])},
            labels,
        )
    )


def open_predictor(estimator: estimator_train.Estimator) -> Any:
    with estimator.predictor() as predictor:
        return predictor({"x": [[-1.0]], "word": [["a"]]})


CALLS: dict[str, Callable[[estimator_train.Estimator], Any]] = {
    "call of evaluate": lambda estimator: estimator.evaluate(make_rows),
    "call of predict": lambda estimator: list(estimator.predict(make_rows)),
    "call of train": lambda estimator: estimator.train(make_rows),
    "predictor": open_predictor,
}


@pytest.mark.parametrize("call", CALLS)
def test_dense_keys_after_a_training_with_sparse_ones_log_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, call: str
) -> None:
    make_estimator(tmp_path).train(make_sparse_rows)
    CALLS[call](make_estimator(tmp_path))
    if call != "call of train":  # Later trainings have dense keys too.
        CALLS[call](make_estimator(tmp_path))
    message = f"1 sparse and 1 dense keys in this {call}, and had 2 and 0 in the training."
    assert caplog.text.count(message) == 1


@pytest.mark.parametrize("input_fn", [make_rows, make_sparse_rows])
def test_keys_as_in_the_training_log_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, input_fn: Callable[[], tf.data.Dataset]
) -> None:
    estimator = make_estimator(tmp_path).train(input_fn)
    estimator.evaluate(input_fn)
    list(estimator.predict(input_fn))
    estimator.train(input_fn)
    assert "crossed column" not in caplog.text
