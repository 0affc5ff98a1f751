"""Boosted trees of `tf.contrib.estimator`."""

from typing import Any

import boosted_trees
import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from tf_contrib import estimator as contrib_estimator


@pytest.mark.long
def test_contrib_functions_train_in_memory() -> None:
    seen = []

    class Count(est.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(1)

    for function, label in (
        (contrib_estimator.boosted_trees_classifier_train_in_memory, "signal"),
        (contrib_estimator.boosted_trees_regressor_train_in_memory, "number"),
    ):
        estimator = function(
            boosted_trees.tensors("events", label),
            boosted_trees.columns("events"),
            n_trees=2,
            max_depth=2,
            train_hooks=[Count()],
        )
        assert estimator.get_variable_value("global_step") == 4
    assert len(seen) == 8


@pytest.mark.parametrize(
    ("batches", "steps"),
    [
        ("one", 4),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (("one without a known size", 4), ("several", 4), ("none", 0))
        ),
    ],
)
def test_training_in_memory_uses_the_first_batch_for_all_layers(
    batches: str, steps: int, caplog: pytest.LogCaptureFixture
) -> None:
    # TensorFlow 1.15 trains 4 layers of the first batch, and fails without a known batch size.
    x = np.linspace(-1, 1, 40, dtype=np.float32)[:, None]
    rows = ({"x": x}, (x > 0.3).astype(np.int32))
    columns = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0, 0.3])]
    make = {
        "one": lambda: tf.data.Dataset.from_tensors(rows),
        "one without a known size": lambda: tf.data.Dataset.from_tensor_slices(rows).batch(40),
        "several": lambda: tf.data.Dataset.from_tensor_slices(rows).batch(30),
        "none": lambda: tf.data.Dataset.from_tensors(rows).take(0),
    }[batches]
    estimator = contrib_estimator.boosted_trees_classifier_train_in_memory(
        make, columns, n_trees=2, max_depth=2
    )
    assert estimator.get_variable_value("global_step") == steps
    warnings = [one.getMessage() for one in caplog.records if "batches" in one.getMessage()]
    text = "train_input_fn has 2 batches; training in memory uses only the first one."
    assert [one.startswith(text) for one in warnings] == [True] * (batches == "several")


@pytest.mark.long
def test_an_error_of_the_input_ends_training_in_memory() -> None:
    def read() -> Any:
        yield {"x": [[1.0]]}, [[1]]
        raise AssertionError("not needed")

    def read_damaged() -> Any:
        raise ValueError("row 7 of rows.csv")
        yield

    columns = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0, 0.3])]
    kinds = {"x": tf.TensorSpec([None, 1])}, tf.TensorSpec([None, 1], tf.int32)

    def train(rows: Any) -> Any:
        return contrib_estimator.boosted_trees_classifier_train_in_memory(
            lambda: tf.data.Dataset.from_generator(rows, output_signature=kinds),
            columns,
            n_trees=1,
            max_depth=2,
        )

    assert train(read).get_variable_value("global_step") == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="row 7 of rows.csv"):
        train(read_damaged)
