"""Evaluation within training: the same figures as from checkpoints, and no file between."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import keras_jobs
import pytest
import tensorflow as tf
from job_cases import estimator, once
from jobs import tiny_input, tiny_parts

import estimator_train as et
from estimator_train.experimental import InMemoryEvaluatorHook
from estimator_train.training.stopping_hooks import read_eval_metrics
from tests.training.our_names import OURS

tf1 = tf.compat.v1


def test_figures_equal_those_of_checkpoints(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=2)
    job.train(tiny_input, steps=6, hooks=[InMemoryEvaluatorHook(job, once, every_n_iter=2)])
    in_memory = read_eval_metrics(job.eval_dir())
    for step in (0, 2, 4, 6):
        path = f"{tmp_path}/model.ckpt-{step}"
        metrics = job.evaluate(once, checkpoint_path=path, name="checkpoint")
        assert in_memory[step] == pytest.approx({n: metrics[n] for n in ("loss", "mae")}, rel=1e-6)


def test_evaluations_are_in_the_history(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path))
    job.train(tiny_input, steps=2, hooks=[InMemoryEvaluatorHook(job, once, name="memory")])
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    evaluations = [line for line in lines if line.get("eval") == "memory"]
    losses = [metrics["loss"] for metrics in read_eval_metrics(job.eval_dir("memory")).values()]
    assert [line["step"] for line in evaluations] == [0, 2]
    assert [line["metrics"]["loss"] for line in evaluations] == losses


def test_steps_between_evaluations_run_in_one_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path), save_checkpoints_steps=1000, log_step_count_steps=1000)
    hook = InMemoryEvaluatorHook(job, once, every_n_iter=30)
    with caplog.at_level(logging.INFO):
        job.train(tiny_input, steps=70, hooks=[hook])
    assert "training steps run in one session call" in caplog.text
    assert list(read_eval_metrics(job.eval_dir())) == [0, 30, 60, 70]


def test_training_under_a_strategy_is_evaluated(tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    job = estimator(OURS, str(tmp_path), train_distribute=strategy)
    job.train(tiny_input, steps=3, hooks=[InMemoryEvaluatorHook(job, once)])
    metrics = job.evaluate(once, name="checkpoint")
    assert read_eval_metrics(job.eval_dir())[3]["loss"] == pytest.approx(metrics["loss"])


def test_evaluations_may_have_hooks_and_variables_of_their_own(tmp_path: Path) -> None:
    calls: list[str] = []

    class Noting(tf1.train.SessionRunHook):
        def begin(self) -> None:
            calls.append("begin")

        def end(self, session: Any) -> None:
            calls.append("end")

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        parts = tiny_parts(features, labels)
        if mode == et.ModeKeys.EVAL:
            extra = tf1.get_variable("extra", initializer=5.0)
            parts["eval_metric_ops"]["extra"] = tf1.metrics.mean(extra)
        return et.EstimatorSpec(mode, **parts)

    job = estimator(OURS, str(tmp_path), model_fn)
    job.train(tiny_input, steps=2, hooks=[InMemoryEvaluatorHook(job, once, hooks=[Noting()])])
    assert calls == ["begin", "end"] * 2
    assert read_eval_metrics(job.eval_dir())[2]["extra"] == 5.0


def test_a_variable_of_another_shape_is_named(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf1.get_variable("changing", shape=[3 if mode == et.ModeKeys.EVAL else 2])
        return et.EstimatorSpec(mode, **tiny_parts(features, labels))

    job = estimator(OURS, str(tmp_path), model_fn)
    with pytest.raises(ValueError, match=r"'changing' has shape \(3,\) in evaluation and \(2,\)"):
        job.train(tiny_input, steps=2, hooks=[InMemoryEvaluatorHook(job, once)])


@pytest.mark.long
def test_a_keras_model_of_either_format_is_evaluated(tmp_path: Path) -> None:
    for name in ("adam", "adam_saver"):
        keras = keras_jobs.JOBS[name]
        job = keras.build(OURS, str(tmp_path / name), et.RunConfig())
        job.train(keras.train_input, steps=3, hooks=[InMemoryEvaluatorHook(job, keras.eval_input)])
        metrics = job.evaluate(keras.eval_input, name="checkpoint")
        in_memory = read_eval_metrics(job.eval_dir())[3]
        assert in_memory == pytest.approx({n: metrics[n] for n in ("loss", "accuracy")})


def test_the_evaluation_has_the_session_config_of_the_run(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with tf.device("/cpu:1" if mode == "eval" else "/cpu:0"):
            ones = tf.ones_like(features["x"])
            loss = tf.reduce_mean(ones * tf1.get_variable("weight", initializer=2.0) ** 2)
        train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
        return et.EstimatorSpec(mode, loss=loss, train_op=train_op)

    two_devices = tf1.ConfigProto(device_count={"CPU": 2})
    job = et.Estimator(model_fn, tmp_path, et.RunConfig(session_config=two_devices))
    job.train(tiny_input, steps=1, hooks=[InMemoryEvaluatorHook(job, once)])
    assert read_eval_metrics(job.eval_dir())[1]["loss"] == 4.0
