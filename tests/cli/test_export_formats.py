"""`estimator-train export --to=FORMAT`: conversions, files of variables, and bad input.

These tests cover `cli/commands/export.py`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

PROGRAM = """
import estimator_train as est
import numpy as np
import tensorflow as tf

word = tf.feature_column.categorical_column_with_hash_bucket("word", 10)


def model(config):
    return est.LinearClassifier([word, tf.feature_column.numeric_column("x")], config=config)


def input_fn():
    features = {"word": ["a", "b", "c", ""], "x": [1.0, 2.0, 3.0, 4.0]}
    return tf.data.Dataset.from_tensor_slices((features, [0, 1, 0, 1])).batch(2)


def python_model(features, labels, mode):
    y = tf.compat.v1.py_func(lambda x: x, [features["x"]], tf.float32)
    y = tf.reshape(y, [-1])
    step = tf.compat.v1.train.get_global_step()
    loss = tf.reduce_mean(y * tf.compat.v1.get_variable("w", []))
    return est.EstimatorSpec(mode, {"y": y}, loss, step.assign_add(1))


def keras_model():
    import tf_keras

    x = tf_keras.Input([1], name="x")
    model = tf_keras.Model(x, tf_keras.layers.Dense(1, name="out")(x))
    model.compile("sgd", "mse")
    return model


def keras_input_fn():
    return tf.data.Dataset.from_tensor_slices((np.ones([4, 1]), np.ones([4, 1]))).batch(2)
"""
JOB = ("--model=mine:model", "--input_fn=mine:input_fn")


@pytest.fixture
def run(command: Any, train_once: Any) -> Any:
    """Returns the function that runs commands in a directory with a trained model."""
    with open("mine.py", "w") as file:
        file.write(PROGRAM)
    train_once(command, *JOB, "--model_dir=run")
    return command


def test_a_canned_estimator_is_trained_by_its_function(run: Any) -> None:
    found = run("export", "run", *JOB, "--export_dir=saved")
    assert found.code == 0, found.err
    assert os.path.exists(os.path.join(found.out.strip(), "saved_model.pb"))


def test_variables_need_no_model(run: Any) -> None:
    found = run("export", "run", "--to=npz", "--output=new/out.npz")
    assert found.code == 0, found.err
    assert found.out.splitlines()[0] == f"new/out.npz: {os.path.getsize('new/out.npz')} bytes"
    with np.load("new/out.npz") as values:
        assert values["linear/linear_model/word/weights"].shape == (10, 1)
        assert values["global_step"] == 2


def test_a_keras_model_goes_back_to_keras(run: Any) -> None:
    job = ("--model=mine:keras_model", "--model_dir=back")
    assert run("train", *job, "--input_fn=mine:keras_input_fn").code == 0
    found = run("export", *job, "--to=keras", "--output=out.keras")
    assert found.code == 0, found.err
    assert found.out.startswith("out.keras: 2 variables; largest difference of predictions ")
    model = tf_keras.models.load_model("out.keras")
    (name,) = [name for name, shape in tf.train.list_variables("back") if shape == [1, 1]]
    kernel = tf.train.load_variable("back", name)
    np.testing.assert_array_equal(model.layers[-1].kernel, kernel)


@pytest.mark.long
def test_conversion_prints_the_largest_difference(run: Any) -> None:
    found = run("export", "run", *JOB, "--to=onnx", "--output=out", "--outputs=probabilities")
    assert found.code == 0, found.err
    assert found.out.startswith("out: largest difference of 4 rows ")
    assert found.out.endswith(" (probabilities)\n")
    assert sorted(os.listdir("out")) == ["encoder.json", "encoder.py", "model.onnx"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("run", "--to=pmml"), "--to=pmml: choose one of saved_model, keras, onnx, openvino, tfl"),
        (("run", "other"), "one MODEL_DIR is expected, got 2: other."),
        (("run", "--to=npz"), "--output=PATH is needed for --to=npz."),
        (("run", "--to=npz", "--output=run"), "--output=run already exists. Remove it, or choose"),
        (
            ("run", "--to=npz", "--output=mine.py/out"),
            "mine.py/out: the output cannot be written: File exists. Choose another path.",
        ),
        (("run", "--to=keras", "--output=out"), "--model=module:function is needed, which returns"),
        (
            ("run", "--to=keras", "--output=out", "--model=mine:input_fn"),
            "--model=mine:input_fn returns _BatchDataset, expected a Keras model: only the weights",
        ),
        (
            ("run", "--to=keras", "--output=out", "--model=mine:python_model"),
            "--model=mine:python_model requires the arguments features, labels, mode, expected a "
            "function that takes no arguments and returns the Keras model.",
        ),
        (("absent", "--to=npz", "--output=out"), "--model_dir=absent has no checkpoint: train the"),
        ((".", "--to=npz", "--output=out"), "--model_dir=. has no checkpoint: train the model"),
        (("--to=npz", "--output=out"), "--model_dir=DIR is needed, the directory of a training."),
    ],
)
def test_bad_input_is_one_line(run: Any, flags: tuple[str, ...], message: str) -> None:
    check_refusal(run("export", *flags), message)


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--signature=x", *JOB), "signature 'x' does not exist; this model has ['classification'"),
        (("--outputs=x", *JOB), "outputs: signature 'predict' has no ['x']; it has ['all_class"),
        (("--outputs=classes", *JOB), "outputs: ['classes'] are strings, which other runtimes"),
        (("--output=mine.py/out", *JOB), "mine.py/out: the output cannot be written: File exists"),
    ],
)
def test_impossible_conversions_are_one_line(
    run: Any, flags: tuple[str, ...], message: str
) -> None:
    check_refusal(run("export", "run", "--to=onnx", "--output=out", *flags), message)


def test_tensorflowjs_needs_an_environment(run: Any) -> None:
    found = run("export", "run", "--to=tfjs", "--output=out", *JOB)
    check_refusal(found, "The format tfjs needs the package tensorflowjs, which replaces Tensor")


@pytest.mark.long
def test_a_converter_that_does_not_fit_is_one_line(run: Any) -> None:
    # This environment has no tensorflowjs.
    flags = ("--to=tfjs", "--output=out", f"--converter_python={sys.executable}")
    found = run("export", "run", *flags, *JOB)
    check_refusal(found, "tensorflowjs could not convert the model: ModuleNotFoundError: No modul")


@pytest.mark.long
def test_python_code_is_refused(run: Any) -> None:
    job = ("--model=mine:python_model", "--input_fn=mine:input_fn", "--model_dir=python")
    assert run("train", *job).code == 0
    found = run("export", *job, "--to=onnx", "--output=out")
    check_refusal(found, "Operation 'PyFunc' is Python code (tf.py_function), which a file cannot")


def check_refusal(found: Any, message: str) -> None:
    assert found.code == 2
    assert found.out == ""
    assert f"estimator-train: error: {message}" in found.err
    assert found.err.count("\n") == 1
    assert not [name for name in os.listdir() if name.startswith((".", "out"))]
