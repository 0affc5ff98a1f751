"""Early stopping under strategies, in old model directories and for unwritten metrics.

These tests cover `training/eval_metrics.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
import tiers
from job_cases import estimator, global_step, once, run
from job_stopping import EVERY_STEP
from jobs import tiny_input

import estimator_train as est
from estimator_train.training.stopping_hooks import (
    make_early_stopping_hook,
    read_eval_metrics,
    stop_if_higher_hook,
    stop_if_lower_hook,
)
from tests.training.our_names import OURS

STRATEGIES = {
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    "one device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "central storage": lambda: tf.compat.v1.distribute.experimental.CentralStorageStrategy(
        ["/cpu:0"]
    ),
    "multi-worker mirrored": tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy,
    "parameter server": tf.compat.v1.distribute.experimental.ParameterServerStrategy,
}


@pytest.mark.parametrize("strategy", tiers.every(3, STRATEGIES))
def test_default_arguments_work_under_every_strategy(tmp_path: Path, strategy: str) -> None:
    job = estimator(OURS, str(tmp_path), train_distribute=STRATEGIES[strategy]())
    hook = make_early_stopping_hook(job, lambda: True)
    job.train(tiny_input, max_steps=5, hooks=[hook])
    assert global_step(job) == 1


def test_a_metric_stops_a_job_under_a_strategy(tmp_path: Path) -> None:
    strategy = STRATEGIES["mirrored"]()
    job = estimator(OURS, str(tmp_path), train_distribute=strategy, save_checkpoints_steps=2)
    hook = stop_if_lower_hook(job, "mae", 0.1, **EVERY_STEP)
    metrics, _ = run(OURS, job, {"hooks": [hook], "max_steps": 20})
    assert (metrics["global_step"], metrics["mae"] < 0.1) == (8, True)


def variables(job: Any) -> list[str]:
    return job.get_variable_names()


def test_a_model_dir_begun_without_early_stopping_continues_with_it(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path))
    job.train(tiny_input, steps=2)
    job.train(tiny_input, steps=2, hooks=[make_early_stopping_hook(job, lambda: False)])
    assert global_step(job) == 4
    assert "signal_early_stopping/STOP" not in variables(job)


def test_a_model_dir_begun_with_early_stopping_continues_with_and_without_it(
    tmp_path: Path,
) -> None:
    job = estimator(OURS, str(tmp_path))
    job.train(tiny_input, max_steps=9, hooks=[make_early_stopping_hook(job, lambda: True)])
    assert job.get_variable_value("signal_early_stopping/STOP")
    job.train(tiny_input, steps=2, hooks=[make_early_stopping_hook(job, lambda: False)])
    assert not job.get_variable_value("signal_early_stopping/STOP")
    job.train(tiny_input, steps=2)
    assert global_step(job) == 5


def test_two_hooks_work_in_one_training(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path))
    hooks = [make_early_stopping_hook(job, answer) for answer in (lambda: False, lambda: True)]
    job.train(tiny_input, max_steps=9, hooks=hooks)
    assert global_step(job) == 1


def test_a_metric_that_no_evaluation_writes_raises_an_error(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    job.evaluate(once)
    hook = stop_if_higher_hook(job, "auc", 0.9, run_every_secs=1000)
    with pytest.raises(
        KeyError, match=r"^Early .*'auc', .*eval do not write: they have \['loss', 'mae'\]"
    ):
        job.train(tiny_input, steps=5, hooks=[hook])


def test_evaluations_that_do_not_count_may_lack_the_metric(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An earlier model in the model_dir had other metrics."""
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    job.evaluate(once)
    extended = est.add_metrics(job, lambda labels: {"auc": tf.compat.v1.metrics.mean(labels)})
    hook = stop_if_higher_hook(extended, "auc", -1e9, min_steps=4, **EVERY_STEP)
    extended.train(tiny_input, max_steps=5, hooks=[hook])
    assert caplog.text.count("'auc'") == caplog.text.count("It is an error from step 4 on.") == 1
    extended.evaluate(once)
    extended.train(tiny_input, max_steps=9, hooks=[hook])
    assert global_step(extended) == 6


def test_training_continues_while_no_evaluation_exists(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path))
    hook = stop_if_higher_hook(job, "loss", 0.0, eval_dir=job.eval_dir("other"))
    training = est.TrainSpec(tiny_input, max_steps=4, hooks=[hook])
    est.train_and_evaluate(job, training, est.EvalSpec(once, throttle_secs=0))
    assert global_step(job) == 4
    assert "eval_other, where no evaluation is written" in caplog.text


def test_an_evaluation_without_a_batch_is_not_searched_in_other_directories(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path))
    training = est.TrainSpec(tiny_input, max_steps=4, hooks=[stop_if_higher_hook(job, "loss", 0.0)])
    empty = est.EvalSpec(lambda: once().take(0), throttle_secs=0)
    est.train_and_evaluate(job, training, empty)
    assert global_step(job) == 4
    assert "read no batch" in caplog.text
    assert "no evaluation is written" not in caplog.text


def test_only_objects_that_are_not_estimators_are_rejected() -> None:
    with pytest.raises(TypeError, match=r"must have type `tf.estimator.Estimator`. Got: .*int"):
        stop_if_higher_hook(3, "loss", 1.0)


def test_read_eval_metrics_returns_metrics_by_step(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path))
    expected = {}
    for step in (2, 4):
        metrics = job.train(tiny_input, max_steps=step).evaluate(once)
        expected[step] = {name: metrics[name] for name in ("loss", "mae")}
    assert read_eval_metrics(job.eval_dir()) == expected
    assert read_eval_metrics(job.eval_dir("nothing")) == {}
