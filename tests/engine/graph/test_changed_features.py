"""A model_fn that changes its features or labels changes a copy of their dict."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train.export.receivers import SupervisedInputReceiver

SIZES = [10.0, 50.0]


def change_features(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
    features["scaled"] = features["size"] / 10.0
    size = features.pop("size")
    weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
    predictions = {"price": features["scaled"] * weight}
    features["size"] = features["scaled"] + 0 * size
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions=predictions)
    labels["price"] = labels["price"] * 2.0
    loss = tf.reduce_mean(tf.square(predictions["price"] - labels["price"]))
    step = tf.compat.v1.train.get_global_step().assign_add(1)
    return est.EstimatorSpec(mode, predictions, loss, step.op)


def make_dataset() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(({"size": SIZES}, {"price": [0.5, 2.5]}))


def receive() -> Any:
    inputs = {"size": tf.compat.v1.placeholder(tf.float32, [None])}
    return est.export.ServingInputReceiver(inputs, inputs)


def receive_labels() -> Any:
    inputs = {"size": tf.compat.v1.placeholder(tf.float32, [None])}
    labels = {"price": tf.compat.v1.placeholder(tf.float32, [None])}
    return SupervisedInputReceiver(inputs, labels, {**inputs, **labels})


@pytest.fixture
def estimator(tmp_path: Path) -> est.Estimator:
    return est.Estimator(change_features, tmp_path / "job").train(make_dataset, steps=1)


def test_exports_and_predictors_feed_what_model_fn_received(
    estimator: est.Estimator, tmp_path: Path
) -> None:
    expected = [float(row["price"]) for row in estimator.predict(make_dataset)]
    assert expected == [1.0, 5.0]
    exported = estimator.experimental_export_all_saved_models(
        tmp_path / "export",
        {est.ModeKeys.PREDICT: receive, est.ModeKeys.EVAL: receive_labels},
    )
    path = os.fsdecode(exported)
    served = tf.saved_model.load(path, tags=["serve"]).signatures["serving_default"]
    assert list(served.structured_input_signature[1]) == ["size"]
    assert served(size=tf.constant(SIZES))["price"].numpy().tolist() == expected
    evaluated = tf.saved_model.load(path, tags=["eval"]).signatures["eval"]
    found = evaluated(size=tf.constant(SIZES), price=tf.constant([0.5, 2.5]))
    assert float(found["loss"]) == 0
    with estimator.predictor(receive) as predictor:
        assert predictor({"size": SIZES})["price"].tolist() == expected


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_the_dicts_of_input_fn_stay_as_they_are(kind: type, estimator: est.Estimator) -> None:
    given: list[Any] = []

    def input_fn() -> Any:
        given[:] = kind(size=tf.constant(SIZES)), kind(price=tf.constant([0.5, 2.5]))
        return tuple(given)

    for call in (
        lambda: estimator.train(input_fn, steps=1),
        lambda: estimator.evaluate(input_fn, steps=1),
        lambda: next(estimator.predict(lambda: input_fn()[0])),
    ):
        call()
        features, labels = given
        assert list(features) == ["size"]
        assert features["size"].op.type == labels["price"].op.type == "Const"
        assert type(features) is kind
