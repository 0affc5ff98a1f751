"""Metrics of tf_keras that forget updates in a graph: their values equal those of eager code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est

_Y = np.eye(3, dtype=np.float32)[np.arange(16) % 3]
_P = np.random.RandomState(0).uniform(0.1, 1.0, (16, 3)).astype(np.float32)


def _batches(drop_remainder: bool) -> tf.data.Dataset:
    rows = tf.data.Dataset.from_tensor_slices((_P, _Y))
    return rows.batch(8, drop_remainder=drop_remainder)


def _evaluate(metric: type, model_dir: Path, input_fn: Callable[[], tf.data.Dataset]) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> est.EstimatorSpec:
        measured = metric(name="measured")
        measured.update_state(labels, features)
        return est.EstimatorSpec(
            mode,
            loss=tf.reduce_mean(features),
            train_op=tf.compat.v1.train.get_global_step().assign_add(1),
            eval_metric_ops={"measured": measured} if mode == "eval" else None,
        )

    estimator = est.Estimator(model_fn, str(model_dir))
    estimator.train(input_fn, steps=1)
    return estimator.evaluate(input_fn)["measured"]


@pytest.mark.parametrize("drop_remainder", [False, True])
@pytest.mark.parametrize("name", ["F1Score", "FBetaScore", "R2Score"])
def test_all_variables_of_a_metric_are_updated(
    name: str, drop_remainder: bool, tmp_path: Path
) -> None:
    metric = getattr(tf_keras.metrics, name)
    eager = metric()
    eager.update_state(_Y, _P)
    found = _evaluate(metric, tmp_path, lambda: _batches(drop_remainder))
    np.testing.assert_allclose(found, eager.result(), rtol=1e-5)


def test_a_compiled_model_has_the_metrics_of_keras(tmp_path: Path) -> None:
    inputs = tf_keras.Input([3])
    outputs = tf_keras.layers.Dense(3, kernel_initializer="identity", use_bias=False)(inputs)
    model = tf_keras.Model(inputs, outputs)
    model.compile("sgd", "mse", metrics=[tf_keras.metrics.F1Score(name="f1")])
    wanted = model.evaluate(_batches(False), return_dict=True, verbose=0)
    estimator = est.keras.model_to_estimator(model, model_dir=str(tmp_path))
    found = estimator.evaluate(lambda: _batches(False))
    np.testing.assert_allclose(found["f1"], wanted["f1"], rtol=1e-5)
