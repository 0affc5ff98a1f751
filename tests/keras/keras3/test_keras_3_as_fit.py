"""Keras 3 models as Estimators compute the steps of `fit`.

These tests cover `keras3/model_fn.py` and `keras3/steps.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tiers
from keras_3_models import BUILDERS, DATA, LossRecorder, built, dataset, fit_losses

import estimator_train as est

STEPS = 200


@pytest.mark.parametrize("name", tiers.first({"own_step"}, list(BUILDERS)))
def test_losses_of_200_steps_equal_those_of_fit(name: str, tmp_path: Path) -> None:
    model = built(name)
    estimator = est.keras.model_to_estimator(model, model_dir=tmp_path)
    recorder = LossRecorder()
    estimator.train(lambda: dataset(name).repeat(), hooks=[recorder], steps=STEPS)
    expected = fit_losses(model, dataset(name), STEPS)
    np.testing.assert_allclose(recorder.losses, expected, rtol=1e-5, atol=1e-5)
    assert expected[-1] != pytest.approx(expected[0], rel=0.01)
    results = estimator.evaluate(lambda: dataset(name))
    step = results.pop("global_step")
    assert step == STEPS
    evaluated = model.evaluate(dataset(name), verbose=0, return_dict=True)
    assert results == pytest.approx(evaluated, rel=1e-4, abs=1e-5)
    features = DATA[name][0]
    rows = list(estimator.predict(lambda: tf.data.Dataset.from_tensor_slices(features).batch(8)))
    outputs = model.predict(features, verbose=0)
    if not isinstance(outputs, dict):
        (key,) = rows[0]
        outputs = {key: outputs}
    for key, expected_rows in outputs.items():
        np.testing.assert_allclose([row[key] for row in rows], expected_rows, rtol=1e-4, atol=1e-5)
