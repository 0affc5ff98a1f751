"""Errors of Keras jobs whose checkpoint or features do not fit the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import estimator_train as est


def rows() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]])).repeat()


def test_another_optimizer_is_named_by_the_variables_that_the_checkpoint_lacks(
    tmp_path: Path,
) -> None:
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(1,), name="out")])
    for number, optimizer in enumerate((tf_keras.optimizers.SGD(), tf_keras.optimizers.Adam())):
        model.compile(optimizer, "mse")
        estimator = est.keras.model_to_estimator(model, model_dir=str(tmp_path))
        if number == 0:
            estimator.train(rows, steps=1)
            continue
        with pytest.raises(tf.errors.NotFoundError) as raised:
            estimator.train(rows, steps=1)
        first = str(raised.value).split("\n")[0]
        assert "optimizer/beta_1' is not in it" in first
        assert "kernel/.OPTIMIZER_SLOT/optimizer/m' is not in it" in first
        assert "global_step" not in first
        assert "kernel' is not" not in first


SIZE, SPEED = np.float32([[1.0], [2.0]]), np.float32([[30.0], [40.0]])


def predict(keys: dict[str, str], features: dict[str, Any], model_dir: Path) -> list[float]:
    """Predicts size + 10 * speed by a Keras 3 model, whose inputs have keys and names."""
    size, speed = (keras.Input((1,), name=name) for name in keys.values())
    total = keras.layers.Add()([size, keras.layers.Rescaling(10.0)(speed)])
    output = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(total)
    model = keras.Model(dict(zip(keys, (size, speed), strict=True)), output)
    model.compile("sgd", "mse")
    estimator = est.keras.model_to_estimator(model, model_dir=str(model_dir))
    found = estimator.predict(lambda: tf.data.Dataset.from_tensors(features))
    return [float(next(iter(row.values()))[0]) for row in found]


@pytest.mark.parametrize("other", ["aaa", "so", "zzz"])
def test_a_keras_3_model_takes_its_features_by_name(other: str, tmp_path: Path) -> None:
    features = {other: 1e6 * SIZE, "size": SIZE, "speed": SPEED}
    assert predict({"size": "size", "speed": "speed"}, features, tmp_path) == [301, 402]


def test_a_key_precedes_the_name_of_another_input(tmp_path: Path) -> None:
    features = {"a": SIZE, "b": SPEED, "left": 1e6 * SIZE}
    assert predict({"a": "left", "b": "right"}, features, tmp_path) == [301, 402]


def test_a_missing_feature_is_named(tmp_path: Path) -> None:
    features = {"size": SIZE, "zzz": SPEED}
    with pytest.raises(KeyError, match="Missed keys: {'speed'}"):
        predict({"size": "size", "speed": "speed"}, features, tmp_path)
