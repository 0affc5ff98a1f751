"""Keras 3 models on two replicas compute the losses of one device with the same global batch."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf
import tiers
from keras_3_models import LossRecorder, built, dataset, fit_losses

import estimator_train as est

STEPS = 20


@pytest.mark.parametrize("name", tiers.first({"linear"}, ["linear", "recurrent"]))
def test_two_replicas_compute_the_steps_of_one_device(name: str, tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    config = est.RunConfig(str(tmp_path), train_distribute=strategy, eval_distribute=strategy)
    estimator = est.keras.model_to_estimator(built(name), config=config)
    recorder = LossRecorder()
    estimator.train(lambda: dataset(name, 4).repeat(), hooks=[recorder], steps=STEPS)
    model = built(name)
    expected = fit_losses(model, dataset(name, 8), STEPS)
    assert recorder.losses == pytest.approx(expected, rel=1e-5, abs=1e-5)
    results = estimator.evaluate(lambda: dataset(name, 4))
    evaluated = model.evaluate(dataset(name, 8), verbose=0, return_dict=True)
    assert results.pop("global_step") == STEPS
    assert results == pytest.approx(evaluated, rel=1e-4)


def test_loops_of_steps_compute_the_same(tmp_path: Path) -> None:
    weights = []
    for loop in (1, "auto"):
        config = est.RunConfig(str(tmp_path / str(loop)), steps_per_loop=loop)
        estimator = est.keras.model_to_estimator(built("linear"), config=config)
        estimator.train(lambda: dataset("linear").repeat(), steps=50)
        weights.append(estimator.get_variable_value("dense/kernel"))
    assert weights[0].tolist() == weights[1].tolist()
