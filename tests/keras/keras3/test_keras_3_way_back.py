"""Checkpoints of Keras 3 models: their names, other processes, and the way back to Keras.

These tests cover `keras3/family.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
import tiers
from keras_3_models import BUILDERS, DATA, ROWS, built, dataset

import estimator_train as est


def trained(name: str, model_dir: Path, steps: int = 20) -> est.Estimator:
    estimator = est.keras.model_to_estimator(built(name), model_dir=model_dir)
    return estimator.train(lambda: dataset(name).repeat(), steps=steps)


def predicted(estimator: est.Estimator, name: str) -> dict[str, np.ndarray]:
    features = DATA[name][0]
    rows = estimator.predict(
        lambda: tf.data.Dataset.from_tensor_slices(features).batch(ROWS),
        yield_single_examples=False,
    )
    return next(iter(rows))


@pytest.mark.long
@pytest.mark.parametrize("name", list(BUILDERS))
def test_names_do_not_depend_on_other_models(name: str, tmp_path: Path) -> None:
    first = [n for n, _ in tf.train.list_variables(trained(name, tmp_path / "1", 1).model_dir)]
    keras.layers.Dense(1), keras.layers.Conv2D(1, 1), keras.layers.LSTM(1), keras.layers.Dense(2)
    built("two_in_two_out")
    second = [n for n, _ in tf.train.list_variables(trained(name, tmp_path / "2", 1).model_dir)]
    assert first == second
    if name == "convnet":
        assert {"dense/kernel", "adam/dense/kernel/momentum"} <= set(first)
    if name == "own_step":
        assert "own_step/dense_1/bias" in first


@pytest.mark.parametrize("name", tiers.first({"own_step"}, list(BUILDERS)))
def test_a_keras_file_predicts_as_the_estimator_to_the_last_bit(name: str, tmp_path: Path) -> None:
    estimator = trained(name, tmp_path)
    model = est.keras.load_trained(built(name), estimator)
    model.save(tmp_path / "m.keras")
    custom = {"OwnStep": type(built("own_step"))}
    again = keras.models.load_model(tmp_path / "m.keras", custom_objects=custom)
    outputs = again.predict(DATA[name][0], batch_size=ROWS, verbose=0)
    for key, ours in predicted(estimator, name).items():
        theirs = outputs[key] if isinstance(outputs, dict) else outputs
        np.testing.assert_array_equal(ours, theirs)
    reader = tf.train.load_checkpoint(tmp_path)
    shapes = reader.get_variable_to_shape_map()
    state = [reader.get_tensor(n) for n in shapes if n.lower().startswith(("adam/", "sgd/", "rm"))]
    values = [np.asarray(v) for v in again.optimizer.variables]
    assert len(state) == len(values) > 1
    for value in values:
        assert any(np.array_equal(value, other) for other in state)


@pytest.mark.parametrize("name", tiers.first({"linear"}, list(BUILDERS)))
def test_fit_continues_as_an_estimator(name: str, tmp_path: Path) -> None:
    model = built(name)
    model.fit(dataset(name), verbose=0)
    steps = int(model.optimizer.iterations.numpy())
    estimator = est.keras.estimator_from_fit(model, tmp_path)
    estimator.train(lambda: dataset(name), steps=5)
    assert int(estimator.get_variable_value("global_step")) == steps + 5
    model.fit(dataset(name).take(5), verbose=0)
    ours = est.keras.load_trained(built(name), estimator)
    for found, expected in zip(ours.variables, model.variables, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    for found, expected in zip(ours.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.long
def test_a_second_process_continues(tmp_path: Path) -> None:
    program = (
        "import sys, tensorflow as tf, keras\n"
        "keras.layers.Dense(1)\n"
        "import estimator_train as est\n"
        "from keras_3_models import built, dataset\n"
        "e = est.keras.model_to_estimator(built('convnet'), model_dir=sys.argv[1])\n"
        "e.train(lambda: dataset('convnet').repeat(), max_steps=int(sys.argv[2]))\n"
    )
    paths = ":".join([str(Path(__file__).parents[2] / "support"), *filter(None, sys.path)])
    for model_dir, counts in (("halves", (5, 8)), ("once", (8,))):
        for count in counts:
            subprocess.run(
                [sys.executable, "-c", program, str(tmp_path / model_dir), str(count)],
                check=True,
                env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin"},
            )
    found = [tf.train.load_checkpoint(str(tmp_path / name)) for name in ("halves", "once")]
    assert found[0].get_variable_to_shape_map() == found[1].get_variable_to_shape_map()
    assert found[0].get_tensor("adam/iteration") == found[1].get_tensor("adam/iteration") == 8
