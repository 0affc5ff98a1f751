"""`estimator-train to-keras`: converts a checkpoint to a Keras model and checks predictions.

These tests cover `job/models.py`.
"""

import numpy as np
import pytest
import tf_keras

MODEL = """
import tf_keras


def build():
    return tf_keras.Sequential(
        [
            tf_keras.layers.Input([4]),
            tf_keras.layers.Dense(3, activation="tanh", name="hidden"),
            tf_keras.layers.BatchNormalization(name="norm"),
            tf_keras.layers.Dense(1, name="out"),
        ]
    )


def with_lambda():
    model = build()
    model.add(tf_keras.layers.Lambda(lambda x: x * 1.0))
    return model


def renamed():
    return tf_keras.Sequential(
        [
            tf_keras.layers.Dense(3, activation="tanh", name="hidden", input_shape=(4,)),
            tf_keras.layers.BatchNormalization(name="norm"),
            tf_keras.layers.Dense(1, name="last"),
        ]
    )


def other():
    return tf_keras.Sequential([tf_keras.layers.Dense(5, input_shape=(4,), name="hidden")])
"""


@pytest.fixture
def trained(command, tmp_path):
    """Returns the model_dir of a training, and the predictions of the estimator."""
    from estimator_train.keras import model_to_estimator

    (tmp_path / "mine.py").write_text(MODEL)
    scope: dict = {}
    exec(MODEL, scope)
    model = scope["build"]()
    model.compile("adam", "mse")
    x = np.random.RandomState(0).randn(8, 4).astype("float32")
    estimator = model_to_estimator(model, model_dir="run")

    def input_fn():
        import tensorflow as tf

        return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).repeat().batch(8)

    estimator.train(input_fn, steps=3)
    return x, [row["out"] for row in estimator.predict(lambda: input_fn().take(1))]


def test_writes_a_model_that_predicts_the_same(command, trained):
    x, expected = trained
    outcome = command("to-keras", "run", "--model=mine:build", "--output=model.keras")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("model.keras: 8 variables; largest difference of predictions ")
    predicted = tf_keras.models.load_model("model.keras").predict(x, verbose=0)
    np.testing.assert_array_equal(predicted, expected)
    again = command("to-keras", "run", "--model=mine:build", "--output=model.keras")
    assert again.code == 2
    assert "--output=model.keras already exists" in again.err
    renamed = command("to-keras", "run", "--model=mine:renamed", "--output=renamed.keras")
    found = [line for line in renamed.out.splitlines() if " <- " in line]
    assert found == ["last/kernel <- out/kernel", "last/bias <- out/bias"]
    misfit = command("to-keras", "run", "--model=mine:other", "--output=other.keras")
    assert misfit.code == 2
    assert "does not fit the Keras model" in misfit.err


KERAS_3_MODEL = """
import keras


def build():
    layers = [keras.Input([4]), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile("adam", "mse", metrics=["mae"])
    return model


def input_fn():
    import numpy as np
    import tensorflow as tf

    x = np.random.RandomState(0).randn(64, 4).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).repeat(4).batch(8)
"""


@pytest.mark.long
def test_a_keras_3_model_trains_and_is_written(command, tmp_path):
    import keras
    import tensorflow as tf

    (tmp_path / "three.py").write_text(KERAS_3_MODEL)
    job = ["--model=three:build", "--input_fn=three:input_fn", "--model_dir=run3"]
    trained = command("train", *job, "--max_train_steps=20")
    assert trained.code == 0, trained.err
    evaluated = command("evaluate", *job, "--eval_steps=4")
    assert {"loss", "mae"} <= set(evaluated.rows)
    outcome = command("to-keras", "run3", "--model=three:build", "--output=three.keras")
    assert outcome.code == 0, outcome.err
    assert "three.keras: 4 variables; largest difference of predictions " in outcome.out
    assert float(outcome.out.split()[-1]) < 1e-6
    model = keras.models.load_model("three.keras")
    assert int(model.optimizer.iterations) == 20
    kernel = tf.train.load_variable("run3", "dense/kernel")
    np.testing.assert_array_equal(model.layers[0].kernel, kernel)


KERAS_3_DICT_MODEL = """
import keras


def build():
    word, age = keras.Input([1], dtype="string", name="word"), keras.Input([2], name="age")
    inputs = {"word": word, "age": age}
    words = keras.layers.StringLookup(vocabulary=["a"], output_mode="one_hot")(inputs["word"])
    hidden = keras.layers.Concatenate()([words, inputs["age"]])
    model = keras.Model(inputs, {"y": keras.layers.Dense(1)(hidden)})
    model.compile("sgd", "mse")
    return model
"""


def test_a_keras_3_model_takes_a_dict_in_any_order(command, tmp_path):
    import keras
    import tensorflow as tf

    from estimator_train.keras import model_to_estimator

    (tmp_path / "named.py").write_text(KERAS_3_DICT_MODEL)
    scope: dict = {}
    exec(KERAS_3_DICT_MODEL, scope)
    x = {"word": np.array([["a"], ["b"]], object), "age": np.ones([2, 2], np.float32)}

    def input_fn():
        return tf.data.Dataset.from_tensors((x, {"y": np.ones([2, 1], np.float32)}))

    estimator = model_to_estimator(scope["build"](), model_dir="run")
    estimator.train(input_fn)
    outcome = command("to-keras", "run", "--model=named:build", "--output=named.keras")
    assert outcome.code == 0, outcome.err
    model = keras.models.load_model("named.keras")
    found = model({name: tf.constant(value) for name, value in x.items()})["y"]
    expected = [row["y"] for row in estimator.predict(input_fn)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.long
def test_python_code_in_a_file_runs_only_with_nosafe_mode(command, trained):
    outcome = command("to-keras", "run", "--model=mine:with_lambda", "--output=model.keras")
    assert outcome.code == 2
    assert "it contains Python code of a Lambda layer" in outcome.err
    flags = ["--model=mine:with_lambda", "--output=other.keras", "--nosafe_mode"]
    assert command("to-keras", "run", *flags).code == 0


def test_bad_flags_are_reported(command, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL)
    assert "one MODEL_DIR is needed" in command("to-keras", "--model=mine:build").err
    assert "--output is needed" in command("to-keras", "run", "--model=mine:build").err
    flags = ["run", "--model=mine:build", "--output=model.keras"]
    assert "'a' must have the form NAME=NAME" in command("to-keras", *flags, "--name_map=a").err
    assert "There is no checkpoint in run" in command("to-keras", *flags).err
