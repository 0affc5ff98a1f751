"""Wrappers of Keras 2 for scikit-learn, in scikit-learn's own search and under all their names."""

import json

import pytest

PROGRAM = """
import json
import keras
import numpy as np
import tensorflow as tf
from keras.utils.io_utils import HDF5Matrix
from sklearn.model_selection import GridSearchCV
from tensorflow.keras.wrappers.scikit_learn import KerasClassifier

def build(units=3):
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(units, input_shape=(2,)),
        tf.keras.layers.Dense(2, activation="softmax"),
    ])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model

x, y = np.random.RandomState(0).rand(12, 2), np.array([3, 5] * 6)
found = GridSearchCV(KerasClassifier(build, verbose=0), {"units": [2, 3]}, cv=2).fit(x, y)
same = keras.wrappers.scikit_learn.KerasClassifier is KerasClassifier
same = same and tf.keras.utils.HDF5Matrix is HDF5Matrix
others = set(found.predict(x).tolist()) - {3, 5}
print(json.dumps([same, sorted(found.best_params_), sorted(others)]))
"""


@pytest.mark.long
def test_scikit_learn_searches_the_parameters_of_a_model(run):
    done = run(PROGRAM, switches=["--tf1"])
    assert json.loads(done.stdout.splitlines()[-1]) == [True, ["units"], []]
