"""The version of Keras that old programs print and compare."""

import pytest
import tf_keras

PROGRAM = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.python.keras import __version__ as of_private_name
print(keras.__version__, tf.keras.__version__ == keras.__version__, of_private_name)
"""


@pytest.mark.parametrize("generation", ["tf1", "tf2"])
def test_tf_keras_has_a_version(run, generation):
    version = "2.2.4-tf" if generation == "tf1" else tf_keras.__version__
    done = run(PROGRAM, switches=[f"--{generation}"])
    assert done.stdout.splitlines()[-1] == f"{version} True {version}"
