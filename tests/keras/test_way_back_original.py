"""Checkpoints of the original become Keras models that predict and train on as it does.

These tests cover `tf_keras/checkpoints.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
import tiers
from outcomes import recorded
from way_back_jobs import BATCH, CHECKPOINTS, FIRST, JOBS, MORE, X, Y

from estimator_train import keras

GOLDEN = recorded("way_back")


@pytest.mark.parametrize("name", tiers.every(3, JOBS))
def test_a_checkpoint_of_the_original_predicts_and_continues_as_recorded(name: str) -> None:
    model = keras.load_trained(JOBS[name].keras_model(tf_keras), CHECKPOINTS / name)
    assert _predicted(model) == pytest.approx(np.float32(GOLDEN[name]["first"]), rel=1e-5, abs=1e-6)
    assert model.optimizer.iterations == FIRST
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH).repeat()
    model.fit(data, steps_per_epoch=MORE, verbose=0)
    assert _predicted(model) == pytest.approx(np.float32(GOLDEN[name]["more"]), rel=1e-4, abs=1e-6)


def _predicted(model: Any) -> Any:
    return model.predict(X, batch_size=BATCH, verbose=0)


def test_variables_of_the_original_are_matched_by_layer() -> None:
    model = JOBS["layers"].keras_model(tf_keras)
    names = keras.propose_name_map(model, CHECKPOINTS / "layers")
    assert names == {
        "first/kernel": "conv2d/kernel",
        "first/bias": "conv2d/bias",
        "norm/gamma": "batch_normalization/gamma",
        "norm/beta": "batch_normalization/beta",
        "norm/moving_mean": "batch_normalization/moving_mean",
        "norm/moving_variance": "batch_normalization/moving_variance",
        "second/kernel": "conv2d_1/kernel",
        "second/bias": "conv2d_1/bias",
        "third/kernel": "dense/kernel",
        "third/bias": "dense/bias",
        "fourth/kernel": "dense_1/kernel",
        "fourth/bias": "dense_1/bias",
        "out/kernel": "dense_2/kernel",
        "out/bias": "dense_2/bias",
    }
