"""Canned estimators with many steps in one session call: tables are captured by the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import canned_rnn
import numpy as np
import pytest
import tensorflow as tf
import tiers
from canned_figures import FixedValues

import estimator_train as est
from estimator_train.compat import v1

fc = tf.feature_column
WORK = fc.categorical_column_with_vocabulary_list("work", ["a", "b", "c"], num_oov_buckets=1)
DENSE = fc.indicator_column(WORK)
NAMES = ["no", "yes"]
STEPS, PER_LOOP = 12, 5


def rows() -> tf.data.Dataset:
    """Batches that differ from step to step."""
    random = np.random.RandomState(0)
    work = random.choice(list("abcd"), 10)
    return (
        tf.data.Dataset.from_tensor_slices(
            ({"work": work}, np.array(NAMES)[random.randint(2, size=10)])
        )
        .repeat()
        .batch(4)
    )


KINDS: dict[str, Callable[..., Any]] = {
    "baseline": lambda api, **k: api.BaselineClassifier(label_vocabulary=NAMES, **k),
    "linear": lambda api, **k: api.LinearClassifier([WORK], label_vocabulary=NAMES, **k),
    "dnn": lambda api, **k: api.DNNClassifier(
        [3], [DENSE], label_vocabulary=NAMES, batch_norm=True, **k
    ),
    "combined": lambda api, **k: api.DNNLinearCombinedClassifier(
        linear_feature_columns=[WORK],
        dnn_feature_columns=[DENSE],
        dnn_hidden_units=[3],
        label_vocabulary=NAMES,
        **k,
    ),
}
CASES: dict[str, Any] = {
    f"{name} {kind}": (api, KINDS[kind], rows)
    for name, api in (("v2", est), ("v1", v1))
    for kind in KINDS
}
CASES["v2 rnn"] = (
    est,
    lambda api, **k: api.experimental.RNNClassifier(
        canned_rnn.columns(), units=[3], return_sequences=True, n_classes=3, **k
    ),
    canned_rnn.of_steps,
)
CASES["v1 kmeans"] = (
    v1,
    lambda api, **k: api.experimental.KMeans(
        2, initial_clusters=np.eye(4)[:2], feature_columns=[DENSE], **k
    ),
    rows,
)
FIRST = {"v1 dnn"}


class CountSteps(FixedValues):
    """Counts the steps that hooks see, which begin with fixed values."""

    count = 0

    def steps_until_due(self, global_step: int) -> None:
        """Leaves steps to the loop."""

    def before_run(self, run_context: Any) -> None:
        self.count += 1


@pytest.mark.parametrize("name", tiers.first(FIRST, CASES))
def test_steps_in_a_loop_equal_single_steps(name: str, tmp_path: Path) -> None:
    api, make, input_fn = CASES[name]
    found = []
    for per_loop in (1, PER_LOOP):
        config = est.RunConfig(tf_random_seed=1, steps_per_loop=per_loop)
        estimator = make(api, model_dir=str(tmp_path / str(per_loop)), config=config)
        seen = CountSteps()
        estimator.train(input_fn, hooks=[seen], steps=STEPS)
        names = estimator.get_variable_names()
        found.append({name: estimator.get_variable_value(name) for name in names})
    alone, together = found
    assert seen.count < STEPS
    assert alone.keys() == together.keys()
    assert together["global_step"] == STEPS
    for name, value in alone.items():
        np.testing.assert_allclose(together[name], value, rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("per_loop", [1, PER_LOOP])
def test_kmeans_counts_the_end_of_the_input_after_a_loop(per_loop: int) -> None:
    config = est.RunConfig(steps_per_loop=per_loop)
    kmeans = v1.experimental.KMeans(2, initial_clusters=np.eye(2), config=config)
    kmeans.train(lambda: tf.data.Dataset.from_tensors(np.eye(2, dtype=np.float32)).repeat(7))
    assert kmeans.get_variable_value("global_step") == 8
