"""Labels that do not fit a Keras 3 model: the answers of `fit`.

These tests cover `keras3/keras_internals.py` and `keras/copied_layers.py`.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est

ONES = np.ones([4, 1], np.float32)


def make_model(width=1, outputs=1):
    inputs = keras.Input([2], name="x")
    layers = [keras.layers.Dense(width, kernel_initializer="ones") for _ in range(outputs)]
    called = [layer(inputs) for layer in layers]
    model = keras.Model(inputs, called if outputs > 1 else called[0])
    model.compile("sgd", "mse")
    return model


def read(labels):
    features = np.ones([4, 2], np.float32)
    data = features if labels is None else (features, labels)
    return tf.data.Dataset.from_tensor_slices(data).batch(4)


@pytest.mark.parametrize("verb", ["train", "evaluate"])
def test_an_input_without_labels_is_an_error_that_says_so(tmp_path, verb):
    estimator = est.keras.model_to_estimator(make_model(), model_dir=tmp_path)
    text = r"input has no labels, .* needs them: return \(features, labels\) from input_fn"
    with pytest.raises(ValueError, match=text):
        getattr(estimator, verb)(lambda: read(None))


def test_predictions_need_no_labels(tmp_path):
    estimator = est.keras.model_to_estimator(make_model(), model_dir=tmp_path)
    (row, *_) = estimator.predict(lambda: read(None))
    assert [float(value[0]) for value in row.values()] == [2.0]


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        ({"width": 2}, np.ones([4, 3], np.float32)),
        ({}, (ONES, ONES)),
        ({"outputs": 2}, ONES),
        ({"outputs": 2}, (ONES, ONES, ONES)),
    ],
)
def test_labels_that_fit_refuses_are_refused_with_its_type_of_error(tmp_path, model, labels):
    with pytest.raises((ValueError, KeyError)) as expected:
        make_model(**model).fit(read(labels), verbose=0)
    estimator = est.keras.model_to_estimator(make_model(**model), model_dir=tmp_path)
    with pytest.raises(type(expected.value)):
        estimator.train(lambda: read(labels))


def test_labels_that_fit_broadcasts_have_its_loss(tmp_path):
    labels = np.tile(np.float32([1, 2, 6]), [4, 1])
    (expected,) = make_model().fit(read(labels), verbose=0).history["loss"]
    estimator = est.keras.model_to_estimator(make_model(), model_dir=tmp_path)
    assert estimator.evaluate(lambda: read(labels))["loss"] == pytest.approx(expected)
