"""Boosted trees that continue from checkpoints of the original.

These tests cover `boosted_trees/model.py` and `canned/boosted_trees/original_checkpoints.py`.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import boosted_trees
import boosted_trees_continued as questions
import numpy as np
import pytest
import tensorflow as tf
import tiers
from boosted_trees_continued import CHECKPOINTS
from outcomes import recorded

import estimator_train as est
from tests.canned.test_boosted_trees import assert_near, assert_same_trees, read_trees


def copy_checkpoint(name: str, model_dir: Path) -> Any:
    """Returns the estimator of a case, in a model_dir with the original's checkpoint."""
    shutil.copytree(CHECKPOINTS / name.replace(" ", "_"), model_dir)
    return questions.make_again(est, name, str(model_dir))


@pytest.mark.parametrize("name", tiers.first({"people"}, questions.CONTINUED))
def test_a_model_continues_from_a_checkpoint_of_the_original(name: str, tmp_path: Path) -> None:
    theirs = recorded("boosted_trees_continued")[name]
    ours = questions.observe(copy_checkpoint(name, tmp_path / "model"), name, read_trees)
    assert_same_trees(ours.pop("grown"), theirs.pop("grown"))
    if name == "categorical":  # The original has no importances of such splits.
        assert ours.pop("importances")["value"][0][1] > 0
        del theirs["importances"]
    assert_near(ours, theirs)


def test_a_converted_model_dir_keeps_a_copy_for_the_original(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    estimator = copy_checkpoint("people", tmp_path / "model")
    original = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    with caplog.at_level(logging.INFO, "tensorflow"):
        path = estimator.latest_checkpoint()
    assert path == str(tmp_path / "model" / "converted.ckpt-5")
    copies = tmp_path / "model" / "tf_estimator"
    assert {path.name: path.read_bytes() for path in copies.iterdir()} == original
    assert tf.train.latest_checkpoint(str(copies)) == str(copies / "model.ckpt-5")
    converted = [text for text in caplog.messages if text.startswith("Converted the boosted trees")]
    assert len(converted) == 1

    case, _ = questions.CONTINUED["people"]
    # Writes a checkpoint of the same step.
    estimator.train(boosted_trees.input_fn(case.data, case.label), steps=1)
    assert {path.name: path.read_bytes() for path in copies.iterdir()} == original


def test_a_model_dir_is_converted_again_after_the_original_has_used_it(tmp_path: Path) -> None:
    copy_checkpoint("people", tmp_path / "model").latest_checkpoint()
    shutil.copytree(CHECKPOINTS / "numeric_batches", tmp_path / "model", dirs_exist_ok=True)
    estimator = questions.make_again(est, "numeric batches", str(tmp_path / "model"))
    assert estimator.latest_checkpoint() == str(tmp_path / "model" / "converted.ckpt-1")
    copies = tmp_path / "model" / "tf_estimator"
    for step in (5, 1):
        assert (copies / f"model.ckpt-{step}.index").exists()
    assert tf.train.latest_checkpoint(str(copies)) == str(copies / "model.ckpt-1")


def test_a_worker_leaves_the_conversion_to_the_chief(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"chief": ["localhost:1"], "worker": ["localhost:2"], "ps": ["localhost:3"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    path = copy_checkpoint("people", tmp_path / "model").latest_checkpoint()
    assert path == str(tmp_path / "model" / "model.ckpt-5")
    assert not (tmp_path / "model" / "tf_estimator").exists()


def test_a_checkpoint_of_the_original_is_exported(tmp_path: Path) -> None:
    estimator = copy_checkpoint("batches", tmp_path / "model")
    features, _ = boosted_trees.events_of_collisions()
    rows = {name: tf.constant(values[:5]) for name, values in features.items()}
    receiver = est.export.build_raw_serving_input_receiver_fn(
        {name: tf.TensorSpec([None], tensor.dtype) for name, tensor in rows.items()}
    )
    exported = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    serve = tf.saved_model.load(exported.decode()).signatures["predict"]
    theirs = recorded("boosted_trees_continued")["batches"]["predictions"]
    assert serve(**rows)["logits"].numpy() == pytest.approx(
        np.array([row["logits"][1] for row in theirs]), abs=1e-6
    )


def test_trees_that_do_not_fit_the_model_are_an_error(tmp_path: Path) -> None:
    copy_checkpoint("people", tmp_path / "model")
    case, _ = questions.CONTINUED["people"]
    shallow = boosted_trees.made(est, case, str(tmp_path / "model"), max_depth=1)
    with pytest.raises(ValueError, match="trees of more layers than max_depth=1"):
        shallow.latest_checkpoint()


def test_other_buckets_of_numeric_columns_are_an_error(tmp_path: Path) -> None:
    copy_checkpoint("numeric", tmp_path / "model")
    case, _ = questions.CONTINUED["numeric"]
    few = boosted_trees.made(est, case, str(tmp_path / "model"), quantile_sketch_epsilon=0.5)
    with pytest.raises(ValueError, match="buckets for a numeric column"):
        few.latest_checkpoint()
