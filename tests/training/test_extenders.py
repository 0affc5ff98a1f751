"""Estimators and optimizers made from others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from job_cases import estimator, once
from jobs import tiny_data, tiny_estimator, tiny_input, tiny_model_fn, tiny_parts, tiny_receiver

import estimator_train as et
import estimator_train.compat.v1 as v1
from estimator_train.training.extenders import (
    add_metrics,
    clip_gradients_by_norm,
    forward_features,
)
from tests.training.our_names import OURS

tf1 = tf.compat.v1


def test_more_metrics_under_a_strategy(tmp_path: Path) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    job = estimator(OURS, str(tmp_path), eval_distribute=strategy).train(tiny_input, steps=1)
    more = add_metrics(job, lambda labels: {"mean": tf1.metrics.mean(labels)})
    assert more.evaluate(once)["mean"] == pytest.approx(tiny_data()[1].mean())


def test_metrics_that_are_not_a_dict_raise_an_error(tmp_path: Path) -> None:
    job = add_metrics(estimator(OURS, str(tmp_path)), lambda: None)
    with pytest.raises(TypeError, match="must return a dict of metrics, but returned None"):
        job.train(tiny_input, steps=1).evaluate(once)


def test_the_estimator_class_and_the_warm_start_are_kept(tmp_path: Path) -> None:
    first = estimator(OURS, str(tmp_path / "first")).train(tiny_input, steps=3)
    for flavour in (et.Estimator, v1.Estimator):
        model_fn = tiny_model_fn(OURS)
        job = flavour(model_fn, tmp_path / flavour.__name__, warm_start_from=first.model_dir)
        more = add_metrics(job, lambda: {})
        assert isinstance(more, type(job))
        assert more.evaluate(once)["loss"] == pytest.approx(first.evaluate(once)["loss"])


@pytest.mark.parametrize("keys", tiers.every(3, [["x"], "x", None]))
def test_forwarded_features_are_predicted_and_served(tmp_path: Path, keys: Any) -> None:
    job = forward_features(estimator(OURS, str(tmp_path)), keys).train(tiny_input, steps=1)
    rows = [prediction["x"] for prediction in job.predict(once)]
    np.testing.assert_array_equal(rows, tiny_data()[0])
    exported = job.export_saved_model(tmp_path / "export", tiny_receiver(OURS))
    with tf.Graph().as_default(), tf1.Session() as session:
        model = tf1.saved_model.load(session, ["serve"], exported.decode())
    outputs = model.signature_def["serving_default"].outputs
    assert sorted(outputs) == ["positive", "score", "x"]


def test_a_sparse_feature_is_filled_up(tmp_path: Path) -> None:
    def input_fn() -> tf.data.Dataset:
        words = tf.SparseTensor([[0, 0], [1, 1]], ["a", "b"], [2, 2])
        return tf.data.Dataset.from_tensors({"x": tf.zeros([2, 2]), "words": words})

    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    forwarded = forward_features(job, "words", sparse_default_values={"words": "-"})
    words = [list(prediction["words"]) for prediction in forwarded.predict(input_fn)]
    assert words == [[b"a", b"-"], [b"-", b"b"]]
    with pytest.raises(ValueError, match=r"Feature \(words\) is sparse"):
        next(forward_features(job, "words").predict(input_fn))


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        (3, TypeError, "keys must be None, a string or a list of strings. Given: 3"),
        (["y"], ValueError, r"Key \(y\) is not in features dict. features: \['x'\]"),
    ],
)
def test_wrong_keys_raise_an_error(tmp_path: Path, keys: Any, error: type, text: str) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    with pytest.raises(error, match=text):
        next(forward_features(job, keys).predict(once))


def test_a_feature_with_the_name_of_a_prediction_raises_an_error(tmp_path: Path) -> None:
    def input_fn() -> tf.data.Dataset:
        return once().map(lambda x, y: {"x": x["x"], "score": y})

    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    with pytest.raises(ValueError, match=r"Cannot forward features \['score'\]: predictions have"):
        next(forward_features(job).predict(input_fn))


def first_update(tmp_path: Path, optimizer: Any) -> np.ndarray:
    """Returns the first step's change of the weight."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        parts = tiny_parts(features, labels)
        parts["train_op"] = optimizer().minimize(parts["loss"], tf1.train.get_global_step())
        return et.EstimatorSpec(mode, **parts)

    job = tiny_estimator(OURS, str(tmp_path), model_fn=model_fn).train(tiny_input, steps=1)
    return job.get_variable_value("weight")[:, 0] - [0.5, 0.25]


def test_a_v1_optimizer_clips_by_the_global_norm(tmp_path: Path) -> None:
    def sgd() -> Any:
        return tf1.train.GradientDescentOptimizer(0.1)

    plain = first_update(tmp_path / "plain", sgd)
    clipped = first_update(tmp_path / "clipped", lambda: clip_gradients_by_norm(sgd(), 0.5))
    np.testing.assert_allclose(np.linalg.norm(clipped), 0.05, rtol=1e-5)
    np.testing.assert_allclose(
        clipped / np.linalg.norm(clipped), plain / np.linalg.norm(plain), rtol=1e-4
    )
    loose = first_update(tmp_path / "loose", lambda: clip_gradients_by_norm(sgd(), 1e6))
    np.testing.assert_allclose(loose, plain, rtol=1e-5)


def test_a_clipping_optimizer_returns_the_slots_of_the_inner_one() -> None:
    with tf.Graph().as_default():
        weight = tf1.get_variable("weight", initializer=[1.0])
        optimizer = clip_gradients_by_norm(tf1.train.MomentumOptimizer(0.1, 0.9), 1.0)
        optimizer.minimize(weight**2)
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(weight, "momentum").op.name == "weight/Momentum"
        assert [v.op.name for v in optimizer.variables()] == ["weight/Momentum"]


@pytest.mark.parametrize(
    "optimizer", [tf_keras.optimizers.Adam(0.1), tf_keras.optimizers.legacy.SGD(0.1)]
)
def test_a_keras_optimizer_becomes_one_that_clips(optimizer: Any) -> None:
    clipping = clip_gradients_by_norm(optimizer, 0.5)
    assert type(clipping) is type(optimizer)
    assert clipping.global_clipnorm == 0.5
    assert optimizer.global_clipnorm is None


def test_objects_that_are_not_optimizers_raise_an_error() -> None:
    with pytest.raises(TypeError, match="optimizer must be an instance of .* given: 'sgd'"):
        clip_gradients_by_norm("sgd", 0.5)
    with pytest.raises(ValueError, match="clip_norm must be positive, but got 0"):
        clip_gradients_by_norm(tf_keras.optimizers.SGD(), 0)
