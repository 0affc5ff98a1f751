"""`import keras` in an old codebase is Keras 2."""

import pytest

OLD = """
import keras
from keras import backend as K
from keras.backend.tensorflow_backend import set_session
from keras.engine.topology import Container, InputSpec, Layer, get_source_inputs
from keras.layers.advanced_activations import LeakyReLU
from keras.layers.core import Dense
from keras.layers.embeddings import Embedding
from keras.layers.merge import concatenate
from keras.layers.normalization import BatchNormalization
from keras.layers.recurrent import GRU
from keras.models import Sequential
from keras.objectives import mean_squared_error
from keras.optimizers import SGD
from keras.preprocessing.sequence import pad_sequences
from keras.utils import multi_gpu_model, np_utils
from keras.utils.multi_gpu_utils import multi_gpu_model as same
import tensorflow as tf
import numpy as np

set_session(tf.Session())

class Scale(Layer):
    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(1,), initializer="ones")
        super(Scale, self).build(input_shape)

    def call(self, inputs):
        return inputs * self.factor

model = Sequential([Dense(2, input_dim=3, kernel_initializer="ones"), Scale()])
model.compile(SGD(lr=0.0), loss=mean_squared_error)
x = np.ones((4, 3))
print(model.predict_classes(x).tolist(), model.evaluate(x, np.ones((4, 2)), verbose=0))
print(keras.layers.Dense is tf.keras.layers.Dense)
print(K.tensorflow_backend.floatx(), Container.__name__)
print(np_utils.to_categorical([1]).tolist(), pad_sequences([[7]], 2).tolist())
print([w.name for w in model.weights])
print(multi_gpu_model(model, 2) is model, same is multi_gpu_model)
"""


def test_an_old_program_trains_a_model_of_the_package_keras(run):
    assert run(OLD).stdout.splitlines() == [
        "[0, 0, 0, 0] 4.0",
        "True",
        "float32 Model",
        "[[0.0, 1.0]] [[0, 7]]",
        "['dense/kernel:0', 'dense/bias:0', 'scale/factor:0']",
        "True True",
    ]


PROGRAM = """
import keras
import tensorflow as tf
tf.estimator.Estimator
{}
print(keras.layers.Dense.__module__.split(".")[0])
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("keras.layers.Dense(1)", "tf_keras"),
        ("keras.ops.add(1, 2)", "keras"),
        ("from keras.random import normal", "keras"),
        ("import keras.distribution", "keras"),
    ],
)
def test_names_of_keras_3_choose_the_installed_keras(run, line, expected):
    assert run(PROGRAM.format(line), switches=["--tf2"]).stdout == f"{expected}\n"


def test_the_backend_variable_chooses_the_installed_keras(run, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    assert run(PROGRAM.format("")).stdout == "keras\n"


def test_decorators_of_keras_1_change_nothing(run):
    program = """
from keras.legacy import interfaces, layers
@interfaces.legacy_dense_support
def build(units):
    return units
print(build(units=3))
layers.MaxoutDense
"""
    done = run(program, exit_code=2)
    assert done.stdout == "3\n"
    assert "keras.legacy.layers.MaxoutDense does not exist" in done.stderr
