"""Optimizers and columns that were given to canned estimators, against the original."""

from __future__ import annotations

import threading

import ask_canned
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from alike import assert_alike
from outcomes import outcome, recorded

import estimator_train as et
import estimator_train.compat.v1 as v1

GOLDEN = recorded("canned_asked")
QUESTIONS = ask_canned.questions(et, v1, tf_keras)
SGD = tf_keras.optimizers.legacy.SGD


@pytest.mark.parametrize("name", tiers.every(28, sorted(GOLDEN)))
def test_answers_equal_the_recorded_ones(name: str) -> None:
    ours, theirs = outcome(QUESTIONS[name]), GOLDEN[name]
    if "error" in theirs:
        assert ours["error"] == theirs["error"], ours
        assert theirs["text"] in ours["text"]
    else:
        assert "error" not in ours, ours["text"]
        assert_alike(ours["value"], theirs["value"], abs=1e-6)


def test_one_optimizer_trains_several_times_and_several_estimators() -> None:
    shared = SGD(0.5)
    first, second = (et.BaselineClassifier(optimizer=shared) for _ in range(2))
    for estimator in (first, first, second):
        estimator.train(ask_canned.data, steps=1)
    assert first.get_variable_value("global_step") == 2
    assert second.get_variable_value("training/SGD/learning_rate") == 0.5


def test_one_optimizer_trains_both_parts_of_a_model() -> None:
    shared = SGD(0.5)
    columns = ask_canned.numbers()
    estimator = et.DNNLinearCombinedClassifier(
        linear_feature_columns=columns,
        linear_optimizer=shared,
        dnn_feature_columns=columns,
        dnn_optimizer=shared,
        dnn_hidden_units=[2],
    )
    estimator.train(ask_canned.data, steps=2)
    assert estimator.get_variable_value("global_step") == 2


def test_an_optimizer_that_cannot_be_copied_trains_once(caplog: pytest.LogCaptureFixture) -> None:
    given = SGD(0.5)
    given.lock = threading.Lock()
    estimator = et.BaselineClassifier(optimizer=given).train(ask_canned.data, steps=1)
    assert "Give a function that makes it to train several times" in caplog.text
    assert given.iterations.name == "global_step:0"
    assert estimator.get_variable_value("global_step") == 1


def test_sizes_of_layers_may_be_an_array() -> None:
    estimator = et.DNNClassifier(np.array([2, 3]), ask_canned.numbers())
    estimator.train(ask_canned.data, steps=1)
    assert estimator.get_variable_value("dnn/hiddenlayer_1/kernel").shape == (2, 3)
    columns = [tf.feature_column.sequence_numeric_column("x")]
    assert et.experimental.RNNClassifier(columns, units=np.array([2, 3])) is not None
