import json
import math
import os

import pytest
import tensorflow as tf
import tiers
from sleeps import replace_sleep

import estimator_train as est
from estimator_train.engine.checkpoints.best import best_checkpoint

SCORES = {1: 0.5, 2: 0.9, 3: 0.7, 4: 0.9, 5: 0.1, 6: 0.8}


@pytest.fixture
def run(tmp_path):
    """Six checkpoints, each evaluated, of a model whose score is given by its step."""

    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step()
        w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
        score = tf.gather(tf.constant([0.0, *SCORES.values()]), step)
        return est.EstimatorSpec(
            mode,
            loss=w + features,
            train_op=tf.group(step.assign_add(1), w.assign_add(1.0)),
            eval_metric_ops={"score": (tf.identity(score), tf.no_op())},
        )

    def go(keep_best):
        config = est.RunConfig(keep_best=keep_best, keep_checkpoint_max=1)
        estimator = est.Estimator(model_fn, tmp_path, config)
        for _ in SCORES:
            estimator.train(lambda: tf.data.Dataset.from_tensors(0.0), steps=1)
            estimator.evaluate(lambda: tf.data.Dataset.from_tensors(0.0))
        return estimator

    return go


@pytest.mark.parametrize(
    ("mode", "steps"), tiers.every(2, [("max", [2, 4, 6]), ("min", [1, 3, 5])])
)
def test_best_checkpoints_remain_after_the_originals_are_deleted(run, tmp_path, mode, steps):
    estimator = run(("score", mode, 3))
    assert sorted(int(p.name[11:-6]) for p in (tmp_path / "best").glob("*.index")) == steps
    assert [p.name for p in tmp_path.glob("*.index")] == ["model.ckpt-6.index"]
    assert not list((tmp_path / "best").glob("*.part"))
    best = best_checkpoint(str(tmp_path))
    assert best == tf.train.latest_checkpoint(tmp_path / "best")
    assert best.endswith({"max": "ckpt-2", "min": "ckpt-5"}[mode])
    one = lambda: tf.data.Dataset.from_tensors(0.0)  # noqa: E731
    metrics = estimator.evaluate(one, checkpoint_path=best)
    assert metrics["score"] == pytest.approx({"max": 0.9, "min": 0.1}[mode])


@pytest.mark.parametrize(("mode", "step"), tiers.every(2, [("max", 2), ("min", 5)]))
def test_a_metric_that_is_not_a_number_is_the_worst(run, tmp_path, monkeypatch, mode, step):
    monkeypatch.setitem(SCORES, 1, math.nan)
    run(("score", mode, 1))
    assert best_checkpoint(str(tmp_path)) == str(tmp_path / "best" / f"model.ckpt-{step}")


def test_evaluations_of_another_name_are_not_ranked(run, tmp_path, caplog):
    one = lambda: tf.data.Dataset.from_tensors(0.0)  # noqa: E731
    estimator = run(("score", "max", 1))
    config = estimator.config.replace(keep_best=("loss", "max", 1))  # Six, the highest loss.
    by_loss = est.Estimator(estimator.model_fn, tmp_path, config)
    with caplog.at_level("INFO"):
        by_loss.evaluate(one, name="other")
    assert "Did not rank the evaluation 'other'" in caplog.text
    assert best_checkpoint(str(tmp_path)).endswith("ckpt-2")
    by_loss.evaluate(one)
    assert best_checkpoint(str(tmp_path)).endswith("ckpt-6")


def test_a_record_without_names_takes_the_next_evaluation(run, tmp_path):
    estimator = run(("score", "max", 1))
    record = tmp_path / "best" / "best.json"
    (entry,) = json.loads(record.read_text())
    record.write_text(json.dumps([{key: entry[key] for key in ("name", "step", "value")}]))
    config = estimator.config.replace(keep_best=("loss", "max", 2))
    by_loss = est.Estimator(estimator.model_fn, tmp_path, config)
    by_loss.evaluate(lambda: tf.data.Dataset.from_tensors(0.0), name="valid")
    best = [(entry["name"], entry["eval"]) for entry in json.loads(record.read_text())]
    assert best == [("model.ckpt-6", "valid"), ("model.ckpt-2", "valid")]


def test_error_names_a_missing_metric(run):
    with pytest.raises(ValueError, match=r"'sore', which the evaluation does not have. It has"):
        run(("sore", "max", 1))


@pytest.mark.parametrize(
    "value", [("a", "max"), ("a", "most", 1), ("a", "max", 0), "a", (1, "min", 1)]
)
def test_error_shows_invalid_settings(value):
    with pytest.raises(ValueError, match="keep_best should be .* got"):
        est.RunConfig(keep_best=value)


@pytest.mark.parametrize(
    "error", tiers.every(2, [OSError(116, "Stale file handle"), OSError(5, "I/O error")])
)
def test_a_temporary_fault_does_not_clear_the_record(run, tmp_path, monkeypatch, error):
    estimator = run(("score", "max", 3))
    stat, failed = os.stat, []

    def fail_once(path, *args, **kwargs):
        if str(path).endswith("best.json") and not failed:
            failed.append(True)
            raise error
        return stat(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", fail_once)
    replace_sleep(monkeypatch)
    estimator.evaluate(lambda: tf.data.Dataset.from_tensors(0.0))
    assert failed
    state = tf.train.get_checkpoint_state(str(tmp_path / "best"))
    assert len(state.all_model_checkpoint_paths) == 3
