"""Boosted trees of `tf.contrib.estimator`."""

from typing import Any

import boosted_trees
import pytest

import estimator_train as est
from estimator_train.legacy.contrib import estimator as contrib_estimator


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
