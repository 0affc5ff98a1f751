"""The tasks of train_and_evaluate: what the training task leaves for the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.training.evaluator import Finished


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors([2.0]).repeat()


def run_master(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch, loss_at_second_step: float
) -> None:
    """Runs the master of a cluster without other tasks; its loss is NaN if that of step 2 is."""

    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        step = tf.compat.v1.train.get_global_step()
        loss = tf.where(step < 1, 1.0, loss_at_second_step) * tf.reduce_mean(features)
        return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    task = {"cluster": {"master": ["localhost:1"]}, "task": {"type": "master", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    estimator = est.Estimator(model_fn, str(model_dir))
    specs = est.TrainSpec(input_fn, max_steps=4), est.EvalSpec(input_fn, steps=1)
    est.train_and_evaluate(estimator, *specs)


def test_a_master_writes_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Finished(str(tmp_path))
    end.write()
    earlier = end.read()
    run_master(tmp_path, monkeypatch, loss_at_second_step=2.0)
    assert end.read() not in (None, earlier)


def test_a_master_that_fails_leaves_no_end_of_an_earlier_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = Finished(str(tmp_path))
    end.write()
    with pytest.raises(tf.compat.v1.train.NanLossDuringTrainingError):
        run_master(tmp_path, monkeypatch, loss_at_second_step=float("nan"))
    assert end.read() is None


def test_a_cluster_has_only_one_evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = {"cluster": {"chief": ["localhost:1"]}, "task": {"type": "evaluator", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    config = est.RunConfig(session_creation_timeout_secs=1)
    estimator = est.Estimator(lambda features: None, str(tmp_path), config)
    with pytest.raises(ValueError, match=r"only be one `evaluator` .* Given task id 1"):
        est.train_and_evaluate(estimator, est.TrainSpec(input_fn), est.EvalSpec(input_fn))
