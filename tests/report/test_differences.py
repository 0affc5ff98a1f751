"""Comparisons of two model_dirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.report.runs import Value, compare_model_dirs

tf1 = tf.compat.v1


def train(model_dir: Path, start: float = 0.0, kink: int | None = None, steps: int = 4) -> str:
    """Trains a weight, which grows by 1 a step; by 2 at the step of the kink."""

    def model_fn(features: tf.Tensor, mode: str) -> est.EstimatorSpec:
        weight = tf1.get_variable("weight", initializer=[start, 1.0])
        tf1.get_variable("name", initializer="a")
        step = tf1.train.get_global_step()
        growth = tf.where(tf.equal(step, -1 if kink is None else kink), 2.0, 1.0)
        with tf.control_dependencies([weight.assign_add([growth, 0.0])]):
            train_op = step.assign_add(1)
        return est.EstimatorSpec(mode, loss=features + weight[1], train_op=train_op)

    config = est.RunConfig(str(model_dir), save_checkpoints_steps=2, save_summary_steps=1)
    estimator = est.Estimator(model_fn, config=config)
    estimator.train(lambda: tf.data.Dataset.from_tensors(1.0).repeat(), steps=steps)
    return str(model_dir)


def test_equal_trainings_have_no_difference(tmp_path: Path) -> None:
    result = compare_model_dirs(train(tmp_path / "a"), train(tmp_path / "b"), 0.0, 0.0)
    assert (result.different, result.missing, result.explain()) == ({}, {}, "")
    assert result.largest[Value(4, "variable", "weight")] == 0.0
    assert result.largest[Value(3, "training", "loss")] == 0.0
    assert result.describe()[1] == "variable: 6 values at steps 0 to 4, largest difference 0"


def test_the_first_difference_is_named(tmp_path: Path) -> None:
    result = compare_model_dirs(train(tmp_path / "a"), train(tmp_path / "b", kink=3), 1e-4, 1e-6)
    assert list(result.different) == [Value(4, "variable", "weight")]
    assert result.describe()[-1] == "variable weight at step 4 differs: by up to 1"
    assert "shuffling without a seed" in result.explain()


def test_different_initial_values_are_named(tmp_path: Path) -> None:
    result = compare_model_dirs(train(tmp_path / "a"), train(tmp_path / "b", start=0.5), 0.0, 0.1)
    assert {value.step for value in result.different} == {0, 2, 4}
    assert result.describe()[-1] == "variable weight at step 0 differs: by up to 0.5"
    assert "--copy_start" in result.explain()


def test_the_tolerance_is_relative_to_the_old_value(tmp_path: Path) -> None:
    old, new = train(tmp_path / "a", start=10.0), train(tmp_path / "b", start=10.5)
    result = compare_model_dirs(old, new, 0.046, 0.0)
    # 0.5 is more than 4.6 % of 10, and less than 4.6 % of 12 and of 14.
    assert list(result.different) == [Value(0, "variable", "weight")]


def test_a_missing_variable_is_named(tmp_path: Path) -> None:
    old, new = train(tmp_path / "a"), str(tmp_path / "b")
    with tf.Graph().as_default(), tf1.Session() as session:
        variables = [tf1.get_variable("weight", initializer=[0.0, 1.0])]
        variables.append(tf1.get_variable("global_step", initializer=np.int64(0)))
        session.run(tf1.global_variables_initializer())
        tf1.train.Saver(variables).save(session, f"{new}/model.ckpt", 0)
    result = compare_model_dirs(old, new, 0.0, 0.0)
    assert result.missing[Value(0, "variable", "name")] == new
    assert f"variable name at step 0 is missing in {new}" in result.describe()


def test_no_common_step_and_no_directory_are_errors(tmp_path: Path) -> None:
    old = train(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"no checkpoints of the same step: \[0, 2, 4\] and \[\]"):
        compare_model_dirs(old, str(tmp_path / "empty"), 0.0, 0.0)
    with pytest.raises(ValueError, match="none is not a directory"):
        compare_model_dirs(str(tmp_path / "none"), old, 0.0, 0.0)
