"""SavedModels of the original's boosted trees are converted to ones that TensorFlow runs.

These tests cover `export/tree_graphs.py`.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import boosted_trees_exported as questions
import numpy as np
import pytest
import tensorflow as tf
import tiers
from boosted_trees_exported import EXPORTS
from outcomes import recorded

import estimator_train as est
from estimator_train.export.tree_graphs import assign_buckets


def assert_near(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            assert_near(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs, strict=True):
            assert_near(our, their)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, abs=1e-6)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", tiers.every(3, questions.EXPORTED))
def test_a_converted_model_answers_as_the_original(name: str, tmp_path: Path) -> None:
    est.export.convert_boosted_trees(EXPORTS / name.replace(" ", "_"), tmp_path / "converted")
    assert_near(
        questions.ask(tmp_path / "converted", name), recorded("boosted_trees_exported")[name]
    )


def test_numbers_are_assigned_to_buckets_as_by_the_original() -> None:
    numbers = tf.constant([-1.0, 0.0, 0.5, 1.0, 9.0, float("nan"), float("inf")])
    (buckets,) = assign_buckets([numbers, tf.constant([0.0, 1.0])])
    assert buckets.numpy().tolist() == [0, 0, 1, 1, 1, 0, 1]  # TensorFlow 2.8's kernel.


def test_predictors_convert_what_they_load(caplog: pytest.LogCaptureFixture) -> None:
    rows = questions.make_rows("pruned")
    with (
        caplog.at_level(logging.INFO, "tensorflow"),
        est.predictor.from_saved_model(EXPORTS / "pruned", "predict") as predict,
    ):
        logits = predict({name: rows[name] for name in predict.feed_tensors})["logits"]
    theirs = recorded("boosted_trees_exported")["pruned"]["predict"]["logits"]
    assert logits == pytest.approx(np.array(theirs), abs=1e-6)
    assert "`estimator-train convert-trees` writes one" in caplog.text


def test_what_cannot_be_converted_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no SavedModel of boosted trees of tf.estimator"):
        est.export.convert_boosted_trees(tmp_path, tmp_path / "converted")
    (tmp_path / "taken").mkdir()
    with pytest.raises(ValueError, match="taken exists. Use a new directory"):
        est.export.convert_boosted_trees(EXPORTS / "people", tmp_path / "taken")


def test_a_conversion_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(tf.io.gfile, "copy", fail)
    with pytest.raises(OSError, match="disk full"):
        est.export.convert_boosted_trees(EXPORTS / "people", tmp_path / "converted")
    assert list(tmp_path.iterdir()) == []
